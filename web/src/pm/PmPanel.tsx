/** The PM beside any screen: a free question about what is open there, or an order of the epics; its lines as they come. */
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { explain } from "../api/problem";
import { linkTo, type Place } from "../app/routes";
import { ConsultView } from "../consults/ConsultView";
import { useStartConsult } from "../consults/useStartConsult";
import { usePersonasFor, WhomFields } from "../consults/WhomFields";
import { useDraft } from "../inbox/useDraft";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { refOf } from "./refs";

const ALL: ReadonlySet<string> = new Set();

interface Props {
  place: Place;
  /** The consult that is shown. */
  consult: string | null;
  onConsult: (id: string | null) => void;
  onClose: () => void;
}

export function PmPanel({ place, consult, onConsult, onClose }: Props) {
  const [question, setQuestion] = useDraft("pm question");
  const [wanted, setWanted] = useState("");
  const [agent, setAgent] = useState("");
  const able = usePersonasFor("ask");
  const persona = wanted || (able[0]?.id ?? "");
  const orders = able.find(({ id }) => id === persona)?.skills.includes("epic_order") === true;
  const ref = refOf(place);
  const [isAbout, setIsAbout] = useState(true);
  const box = useRef<HTMLTextAreaElement>(null);
  const start = useStartConsult(onConsult);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);

  function ask(event?: FormEvent): void {
    event?.preventDefault();
    if (question.trim() === "" || persona === "") return;
    start.ask({ persona, agent, guidance: "" }, question, ref !== null && isAbout ? [ref.id] : []);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onClose();
  }

  function onBoxKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    ask();
  }

  return (
    <aside className="side pm" aria-labelledby="pm-title" onKeyDown={onKeyDown}>
      <header className="side-head">
        <h2 id="pm-title">Ask the PM</h2>
        <a className="quiet" {...linkTo("coach")}>
          All consults
        </a>
        <button type="button" className="tool" aria-label="Close the panel" title="Close (Esc)" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="side-body">
        <form className="pm-form" aria-label="Question" onSubmit={ask}>
          <div className="field">
            <label htmlFor="pm-question">Question</label>
            <textarea
              ref={box}
              id="pm-question"
              className="line-input"
              rows={3}
              placeholder="What is in the way of the release?"
              value={question}
              onChange={(event) => setQuestion(event.target.value)}
              onKeyDown={onBoxKeyDown}
            />
          </div>
          {ref !== null && (
            <label className="pm-about">
              <input type="checkbox" checked={isAbout} onChange={(event) => setIsAbout(event.target.checked)} />
              <span>
                About the {ref.what} <code>{plainText(ref.id)}</code>
              </span>
            </label>
          )}
          <WhomFields skill="ask" persona={persona} onPersona={setWanted} agent={agent} onAgent={setAgent} />
          {start.error !== null && (
            <p className="mark" data-tone="bad" role="alert">
              <Icon name="warn" />
              <span className="words">{plainText(explain(start.error))}</span>
            </p>
          )}
          <div className="bar">
            <button type="submit" className="button" data-main aria-disabled={question.trim() === "" || start.isPending}>
              {start.isPending ? "Asking…" : "Ask"}
            </button>
            {orders && (
              <button
                type="button"
                className="button"
                title="An order of all epics that are open; what is typed above is its guidance"
                aria-disabled={start.isPending}
                onClick={() => start.order({ persona, agent, guidance: question }, ALL)}
              >
                Recommend order
              </button>
            )}
          </div>
        </form>
        {consult !== null && (
          <section className="pm-answer" aria-label="Answer">
            <ConsultView key={consult} id={consult} level={3} />
          </section>
        )}
      </div>
    </aside>
  );
}
