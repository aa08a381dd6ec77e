/** What can run at the same time, and which pairs cannot, with the paths by which they meet. */
import type { Batch, NamedItem } from "../api/types";
import { Icon } from "../ui/Icon";
import { ItemId } from "../ui/ItemId";
import { plainText } from "../ui/plain-text";

export function BatchPart({ batch, items }: { batch: Batch; items: NamedItem[] }) {
  const titles = new Map(items.map(({ id, title }) => [id, title]));
  const unknown = new Set(batch.unknown);
  return (
    <section className="section" aria-labelledby="batch-title">
      <h2 id="batch-title" className="section-title">
        Can run at once
      </h2>
      <p className="section-hint">
        The best first; whatever would touch a path of one before it is left out.
        {batch.left_out.length > 0 && ` Left out: ${batch.left_out.length}.`}
      </p>
      <ol className="rows" aria-label="Items that can run at once">
        {batch.items.map((id) => (
          <li key={id} className="row">
            <Icon name={unknown.has(id) ? "question" : "check"} />
            <div className="row-words">
              <ItemWords id={id} titles={titles} />
              {unknown.has(id) && <p className="row-note">It names no targets: nobody knows what it will touch.</p>}
            </div>
          </li>
        ))}
      </ol>
      {batch.conflicts.length > 0 && (
        <>
          <h3 className="batch-conflicts">Not at the same time</h3>
          <ul className="rows" aria-label="Pairs that conflict">
            {batch.conflicts.map(({ first, second, first_glob: firstGlob, second_glob: secondGlob }) => (
              <li key={`${first} ${second}`} className="row" data-tone="warn">
                <Icon name="warn" />
                <div className="row-words">
                  <p>
                    <ItemWords id={first} titles={titles} /> and <ItemWords id={second} titles={titles} />
                  </p>
                  <p className="row-note">
                    <code>{plainText(firstGlob)}</code> meets <code>{plainText(secondGlob)}</code>
                  </p>
                </div>
              </li>
            ))}
          </ul>
          {batch.more && <p className="more">There are more conflicts than these.</p>}
        </>
      )}
    </section>
  );
}

function ItemWords({ id, titles }: { id: string; titles: ReadonlyMap<string, string> }) {
  const title = titles.get(id);
  return (
    <span dir="auto">
      {title !== undefined && <>{plainText(title)} </>}
      <ItemId id={id} />
    </span>
  );
}
