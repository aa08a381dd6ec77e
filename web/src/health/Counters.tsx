/** What the server counted since it started. */
export function Counters({ counters }: { counters: Record<string, number> }) {
  const entries = Object.entries(counters);
  if (entries.length === 0) return null;
  return (
    <section className="section" aria-labelledby="section-counters">
      <h2 id="section-counters" className="section-title">
        Counters
      </h2>
      <dl className="panel counters">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll("_", " ")}</dt>
            <dd>{value.toLocaleString()}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
