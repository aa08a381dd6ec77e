/** What personas said of what is on the table, each in a sentence with what it rests on. */
import { useQuery } from "@tanstack/react-query";
import { perspectivesQuery } from "../api/consult-queries";
import type { Perspective } from "../api/types";
import { linkToOne } from "../app/routes";
import { STATUSES } from "../consults/wording";
import { Mark } from "../handoffs/Mark";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";

export function Perspectives({ of }: { of: string }) {
  const said = useQuery(perspectivesQuery(of)).data?.perspectives ?? [];
  if (said.length === 0) return null;
  return (
    <section aria-labelledby="walk-perspectives">
      <h3 id="walk-perspectives" className="walk-rows-title">
        Perspectives
      </h3>
      <ul className="walk-perspectives">
        {said.map((one) => (
          <li key={one.consult_id}>
            <One one={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function One({ one }: { one: Perspective }) {
  const { persona_name: name, status, summary, ground, error, consult_id: id } = one;
  const findings = one.findings as { text?: unknown; refs?: unknown }[];
  return (
    <>
      <p className="walk-who">
        <b>{plainText(name)}</b>
        {status !== "completed" && <Mark look={STATUSES[status]} />}
        <a {...linkToOne("consult", id)}>The consult</a>
      </p>
      {summary !== null && (
        <p className="words" dir="auto">
          <Words text={summary} />
        </p>
      )}
      {summary === null && ground !== null && (
        <p className="words" dir="auto">
          <Words text={ground} />
        </p>
      )}
      {findings.length > 0 && (
        <ul className="walk-findings">
          {findings.map(({ text, refs }, index) => (
            <li key={index} dir="auto">
              <Words text={typeof text === "string" ? text : ""} />
              {Array.isArray(refs) && refs.length > 0 && (
                <span className="card-hint"> {plainText(refs.map(String).join(" · "))}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {error !== null && <p className="card-hint">{plainText(error)}</p>}
    </>
  );
}
