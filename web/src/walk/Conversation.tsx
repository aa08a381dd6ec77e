/** What was said: of the item on the table, and of the whole walk behind a fold. Consults stand where they were asked for. */
import { useEffect, useRef, useState } from "react";
import type { AgendaItem, Said, Walk } from "../api/types";
import { askForOrder, askPerspectives, say } from "../api/walk-deeds";
import { ConsultView } from "../consults/ConsultView";
import { ReplyBox } from "../inbox/ReplyBox";
import { useDraft } from "../inbox/useDraft";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { saidOf } from "./agenda";
import { Perspectives } from "./Perspectives";
import { KEYS } from "./keys";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";

interface Props {
  walk: Walk;
  /** Null: of none in particular. */
  item: AgendaItem | null;
  /** Where one can speak. */
  deeds?: WalkDeeds;
}

export function Conversation({ walk, item, deeds }: Props) {
  const said = item === null ? [] : saidOf(walk, item);
  const [isWhole, setIsWhole] = useState(false);
  // Nothing is read of each item before anybody was asked for anything.
  const wereAsked = walk.consults.some(({ skill_id: skill }) => skill === "perspective");
  return (
    <section className="walk-talk" aria-label="Conversation">
      {said.length > 0 && (
        <ol className="walk-said" aria-label="About this">
          {said.map((line) => (
            <SaidLine key={line.number} line={line} />
          ))}
        </ol>
      )}
      {item !== null && wereAsked && <Perspectives of={item.source.ref} />}
      {item !== null && deeds !== undefined && walk.status === "active" && (
        <Speak walk={walk} item={item} deeds={deeds} />
      )}
      {walk.transcript.length > 0 && (
        <details className="fold" onToggle={(event) => setIsWhole(event.currentTarget.open)}>
          <summary>
            <Icon name="chevron" size={12} />
            <span>The whole walk so far</span>
            <span className="count">{walk.transcript.length}</span>
          </summary>
          {isWhole && (
            <ol className="walk-said" aria-label="The whole walk">
              {walk.transcript.map((line) => (
                <SaidLine key={line.number} line={line} isBrief />
              ))}
            </ol>
          )}
        </details>
      )}
    </section>
  );
}

const RESUMED = /^Resume context:\n([\s\S]*?)\n---\n/;

/** `isBrief`: a consult is named, not shown. */
function SaidLine({ line, isBrief = false }: { line: Said; isBrief?: boolean }) {
  const { speaker, who, at, text, consult_id: consult } = line;
  const context = RESUMED.exec(text);
  const words = context === null ? text : text.slice(context[0].length);
  return (
    <li className="walk-line" data-speaker={speaker}>
      <p className="walk-who">
        <b>{speaker === "operator" ? plainText(who || "You") : speaker === "manager" ? "PM" : "Walk"}</b>
        <Age since={at} ago />
      </p>
      {context !== null && (
        <details className="fold walk-context">
          <summary>
            <Icon name="chevron" size={12} />
            <span>With where the walk stood</span>
          </summary>
          <p className="words">{plainText(context[1] ?? "")}</p>
        </details>
      )}
      {words !== "" && (
        <p className="words" dir="auto">
          <Words text={words} />
        </p>
      )}
      {consult !== null && !isBrief && (
        <div className="walk-consult">
          <ConsultView id={consult} level={3} />
        </div>
      )}
    </li>
  );
}

const NOTHING_TO_SEE = "Personas comment on what they can look at; a topic in words is not.";

interface Asked {
  item: string;
  many: number;
  skipped: { persona_id: string; reason: string }[];
}

function Speak({ walk, item, deeds }: { walk: Walk; item: AgendaItem; deeds: WalkDeeds }) {
  const [text, setText] = useDraft(`walk ${walk.id}`);
  const [asked, setAsked] = useState<Asked | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  // What was asked about another item is of no interest here.
  useEffect(() => setAsked(null), [item.id]);

  function send(): void {
    if (text.trim() === "" || deeds.isBusy) return;
    deeds.act({ run: (confirmId) => say(walk.id, text.trim(), confirmId), said: "Said", then: () => setText("") });
  }

  // Personas comment on what they can look at.
  const isWords = item.source.kind === "topic";

  function perspectives(): void {
    if (isWords) announce(NOTHING_TO_SEE);
    if (deeds.isBusy || isWords) return;
    deeds.act({
      run: async (confirmId) => {
        const { consults, skipped } = await askPerspectives(walk.id, item.id, confirmId);
        setAsked({ item: item.id, many: consults.length, skipped });
        return null;
      },
      said: "Asked for perspectives",
    });
  }

  function order(): void {
    if (deeds.isBusy) return;
    deeds.act({
      run: async (confirmId) => (await askForOrder(walk.id, confirmId), null),
      said: "Asked for an order of the epics",
    });
  }

  useWalkKey((key, event) => {
    if (event.shiftKey) return false;
    if (key === KEYS.say) box.current?.focus();
    else if (key === KEYS.perspectives) perspectives();
    else if (key === KEYS.order) order();
    else return false;
    return true;
  });

  return (
    <div className="walk-speak">
      {walk.synopsis !== null && (
        <details className="fold walk-context">
          <summary>
            <Icon name="chevron" size={12} />
            <span>Your next message goes with where the walk stood</span>
          </summary>
          <p className="words">{plainText(walk.synopsis)}</p>
        </details>
      )}
      <ReplyBox
        ref={box}
        label="Say something to the PM"
        placeholder="Say something to the PM"
        text={text}
        onText={setText}
        onSend={send}
        onLeave={() => document.querySelector<HTMLElement>(".walk-table")?.focus({ preventScroll: true })}
        canSend
        shortcut={KEYS.say}
      />
      <div className="bar walk-ask" role="group" aria-label="Ask">
        <button type="button" className="quiet" aria-keyshortcuts={KEYS.perspectives} aria-disabled={deeds.isBusy || isWords} onClick={perspectives}>
          <Icon name="people" /> Any perspectives? <Kbd>{KEYS.perspectives}</Kbd>
        </button>
        {isWords && <span className="card-hint">{NOTHING_TO_SEE}</span>}
        <button type="button" className="quiet" aria-keyshortcuts={KEYS.order} aria-disabled={deeds.isBusy} onClick={order}>
          <Icon name="coach" /> Order of epics <Kbd>{KEYS.order}</Kbd>
        </button>
      </div>
      {asked !== null && asked.item === item.id && (
        <p className="card-hint" role="status">
          {asked.many === 0 ? "Nobody was asked." : `${asked.many} asked.`}
          {asked.skipped.length > 0 &&
            ` Not asked: ${asked.skipped.map((one) => `${plainText(one.persona_id)} (${plainText(one.reason)})`).join(", ")}.`}
        </p>
      )}
    </div>
  );
}
