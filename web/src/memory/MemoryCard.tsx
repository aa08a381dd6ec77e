/**
 * One memory: what an agent wants remembered and why, whom it would reach, where it came from. One that waits is accepted,
 * edited or rejected here; one that is remembered can be taken back.
 */
import { memo, useRef, useState, type KeyboardEvent } from "react";
import { explain } from "../api/problem";
import type { Memory } from "../api/types";
import { linkToOne } from "../app/routes";
import { ReasonBar } from "../inbox/ReasonBar";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { isCommand } from "../ui/keys";
import { plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { Words } from "../ui/Words";
import { useDecision } from "./decisions";
import { EditForm } from "./EditForm";
import { reachOf, titleOf } from "./wording";

const MANY_CHARACTERS = 640;
const MANY_LINES = 9;

/** A card that goes hands the focus to its neighbour in the list, below before above. */
function neighbourOf(card: HTMLElement): HTMLElement | null | undefined {
  const slot = card.closest("li");
  const next = slot?.nextElementSibling ?? slot?.previousElementSibling;
  return next?.querySelector<HTMLElement>(".card");
}

export const MemoryCard = memo(function MemoryCard({ memory }: { memory: Memory }) {
  const card = useRef<HTMLElement>(null);
  const [mode, setMode] = useState<"read" | "edit" | "reject">("read");
  const [unfolded, setUnfolded] = useState(false);
  const { decide, isBusy, error } = useDecision(memory.id);
  useHandOverFocus(card, neighbourOf);
  const waits = memory.state === "suggested";
  const title = titleOf(memory);
  const long = memory.body.length > MANY_CHARACTERS || memory.body.split("\n", MANY_LINES + 1).length > MANY_LINES;
  const name = `memory-${memory.id}`;

  function leave(): void {
    setMode("read");
    card.current?.focus({ preventScroll: true });
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!isCommand(event) || event.repeat || event.shiftKey) return;
    if (event.key === "Escape" && mode !== "read") leave();
    else if (event.key === "o" && long) setUnfolded(!unfolded);
    else if (!waits || mode !== "read") return;
    else if (event.key === "a") decide({ verb: "accept", body: {} });
    else if (event.key === "e") setMode("edit");
    else if (event.key === "d") setMode("reject");
    else return;
    event.preventDefault();
  }

  return (
    <li className="slot">
      <article
        ref={card}
        className="card"
        tabIndex={-1}
        aria-labelledby={name}
        aria-busy={isBusy}
        data-memory-id={memory.id}
        onKeyDown={onKeyDown}
      >
        <header className="card-head">
          <span className="kind">
            <Icon name="bookmark" />
            {plainText(memory.class)} · {plainText(memory.type)}
          </span>
          <span className="memory-reach">{reachOf(memory)}</span>
          <span className="age">
            <Age since={memory.decided_at ?? memory.created_at} ago />
          </span>
        </header>
        {title !== null && (
          <h3 id={name} className="card-title" dir="auto">
            {plainText(title)}
          </h3>
        )}
        {mode !== "edit" && (
          <div className="card-text">
            <p
              id={title === null ? name : undefined}
              className="words"
              dir="auto"
              data-folded={(long && !unfolded) || undefined}
            >
              <Words text={memory.body} />
            </p>
            {long && (
              <button
                type="button"
                className="link-button"
                aria-expanded={unfolded}
                aria-keyshortcuts="o"
                onClick={() => setUnfolded(!unfolded)}
              >
                {unfolded ? "Show less" : "Show all"}
              </button>
            )}
          </div>
        )}
        {memory.rationale !== "" && (
          <p className="memory-why" dir="auto">
            <span className="assumption-label">Why</span>
            <span>{plainText(memory.rationale)}</span>
          </p>
        )}
        {memory.warnings.map((warning) => (
          <p key={warning} className="mark" data-tone="warn">
            <Icon name="warn" />
            <span>{plainText(warning)}</span>
          </p>
        ))}
        <div className="memory-foot">
          <Provenance memory={memory} />
          {!waits && (
            <button
              type="button"
              className="quiet"
              aria-describedby={name}
              disabled={isBusy}
              onClick={() => decide({ verb: "reopen" })}
            >
              <Icon name="undo" /> Take back
            </button>
          )}
        </div>
        {mode === "edit" && (
          <EditForm
            memory={memory}
            isBusy={isBusy}
            onDone={(body) => decide({ verb: "accept", body })}
            onCancel={leave}
          />
        )}
        {mode === "reject" && (
          <ReasonBar
            label="Why not, for the record (may be empty)"
            action="Reject"
            onReason={(reason) => decide({ verb: "reject", body: { reason: reason.trim() } })}
            onCancel={leave}
          />
        )}
        {waits && mode === "read" && (
          <div className="bar">
            <button
              type="button"
              className="button"
              aria-keyshortcuts="a"
              aria-describedby={name}
              disabled={isBusy}
              onClick={() => decide({ verb: "accept", body: {} })}
            >
              <Kbd>a</Kbd> Remember
            </button>
            <button type="button" className="quiet" aria-keyshortcuts="e" onClick={() => setMode("edit")}>
              <Kbd>e</Kbd> Edit…
            </button>
            <button type="button" className="quiet" aria-keyshortcuts="d" onClick={() => setMode("reject")}>
              <Kbd>d</Kbd> Reject…
            </button>
          </div>
        )}
        {error !== null && (
          <p className="mark" data-tone="bad" role="alert">
            <Icon name="warn" />
            <span>Not done. {explain(error)}</span>
          </p>
        )}
      </article>
    </li>
  );
});

/** Where it came from, and who let it in. */
function Provenance({ memory }: { memory: Memory }) {
  return (
    <p className="card-hint memory-source">
      <code>{plainText(memory.slug)}</code>
      <span>
        from <a {...linkToOne("handoff", memory.source)}>handoff {plainText(memory.source).slice(-6)}</a>
      </span>
      {memory.decided_by !== null && <span>accepted by {plainText(memory.decided_by)}</span>}
    </p>
  );
}
