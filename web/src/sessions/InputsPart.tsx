/** What was typed to an agent and how far it got, with what did not arrive first. Nothing where nothing was. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { inputsQuery } from "../api/session-queries";
import type { Session, SessionInput } from "../api/types";
import { linkToOne } from "../app/routes";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { More } from "../ui/More";
import { firstLine, plainText } from "../ui/plain-text";
import { didNotArrive, inputWords } from "./wording";

export function InputsPart({ session }: { session: Session }) {
  const query = useInfiniteQuery(inputsQuery(session.id));
  const inputs = query.data?.pages.flatMap((page) => page.inputs) ?? [];
  if (inputs.length === 0) return null;
  return (
    <section className="section" aria-labelledby="section-typed">
      <h2 id="section-typed" className="section-title">
        Typed to it
        <span className="section-hint">{query.data?.pages[0]?.total}</span>
      </h2>
      <ul className="rows" aria-label="Typed to it">
        {inputs.map((input) => (
          <InputRow key={input.id} input={input} />
        ))}
      </ul>
      <More query={query} />
    </section>
  );
}

const KINDS = { text: null, interrupt: "Interrupted", close: "Asked to end", key: "A key for a dialog" } as const;

function InputRow({ input }: { input: SessionInput }) {
  const failed = didNotArrive(input);
  return (
    <li className="row" data-input-id={input.id} data-state={input.state} data-tone={failed ? "warn" : undefined}>
      <Icon name={failed ? "warn" : input.state === "waiting" ? "hourglass" : "send"} />
      <div className="row-words">
        <p className="row-title" dir="auto">
          {KINDS[input.kind] ?? firstLine(input.text)}
        </p>
        <p className={failed ? "row-warning" : "row-note"}>{plainText(inputWords(input))}</p>
        <p className="row-note">
          {plainText(input.by)} <Age since={input.at} ago />
          {input.ref !== null && (
            <>
              {" · "}
              <a {...linkToOne("escalation", input.ref)}>an answer</a>
            </>
          )}
        </p>
      </div>
    </li>
  );
}
