/** How long an answer can be taken back before it goes out: this browser's own policy. */
import { CHOICES, useHoldSeconds } from "../undo/hold";

export function HoldChoice() {
  const [seconds, choose] = useHoldSeconds();
  return (
    <section className="section" aria-labelledby="section-undo">
      <h2 id="section-undo" className="section-title">
        Undo
        <span className="section-hint">in this browser</span>
      </h2>
      <p className="hold-choice">
        <label htmlFor="hold">Answers can be taken back for</label>
        <select
          id="hold"
          className="line-input"
          value={seconds}
          onChange={(event) => choose(Number(event.target.value))}
        >
          {CHOICES.map((choice) => (
            <option key={choice} value={choice}>
              {choice === 0 ? "no time: they go out at once" : `${choice} seconds`}
            </option>
          ))}
        </select>
      </p>
      <p className="card-hint">The server holds them so long: closing the page neither loses nor hurries one.</p>
    </section>
  );
}
