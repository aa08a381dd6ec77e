/** What should be done next, and why; what holds it. */
import type { Floor } from "../api/types";
import { linkTo, linkToBoard, linkToOne, rememberCard } from "../app/routes";
import { openOnEnter } from "../handoffs/open-on-enter";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";

type Ready = Floor["ready"];

export function Next({ ready }: { ready: Ready }) {
  const { items, total, more, holds, auto } = ready;
  return (
    <section className="floor-part" aria-labelledby="floor-next">
      <h2 id="floor-next" className="floor-title">
        Next
        <a className="section-hint" {...linkToBoard({ show: "ready" })}>
          {more && "more than "}
          {total.toLocaleString("en")} ready
        </a>
        <a className="section-hint" {...linkTo("coach")}>
          auto-dispatch {auto ? "on" : "off"}
        </a>
      </h2>
      {holds.map(({ kind, reason, lifted_by: liftedBy }) => (
        <p key={kind + reason} className="mark" data-tone="bad">
          <Icon name="hand" />
          <span>
            Nothing new is begun: {plainText(reason)}. To go on: {plainText(liftedBy)}.
          </span>
        </p>
      ))}
      {items.length === 0 ? (
        <Nothing total={total} />
      ) : (
        <ol className="floor-rows">
          {items.map((item) => (
            <Row key={item.id} item={item} />
          ))}
        </ol>
      )}
    </section>
  );
}

/** What is ready may be claimed, or stand in the way of what runs. */
function Nothing({ total }: { total: number }) {
  return (
    <p className="floor-calm">
      <span>
        {total === 0 ? (
          <>
            Nothing is ready. <a {...linkTo("board")}>Make an item</a>, or take work in:{" "}
            <code className="code-span">gemba import md TODO.md</code>
          </>
        ) : (
          <>
            What is ready has parts of its own, or touches what runs: <a {...linkTo("coach")}>see why</a>.
          </>
        )}
      </span>
    </p>
  );
}

function Row({ item }: { item: Ready["items"][number] }) {
  const open = linkToOne("item", item.id);
  return (
    <li className="row floor-row" tabIndex={-1} data-card-id={item.id} onKeyDown={openOnEnter}>
      <span className="floor-rank">{item.rank}</span>
      <div className="floor-words">
        <p className="floor-line" dir="auto">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(item.id);
              open.onClick(event);
            }}
          >
            {firstLine(item.title, 160)}
          </a>
        </p>
        <p className="floor-soft" dir="auto">
          {plainText(item.reasons.join(" · "))}
        </p>
      </div>
    </li>
  );
}
