/** What came of a handoff: what was applied, what it asked of the operator, and what its agent was told. */
import { useQuery } from "@tanstack/react-query";
import { escalationQuery } from "../api/queries";
import type { Handoff } from "../api/types";
import { linkTo, linkToOne, linkToSection } from "../app/routes";
import { kindOf } from "../inbox/wording";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";

export function Applied({ applied }: { applied: Handoff["applied"] }) {
  const { contracts = [], memory = [], warnings = [] } = applied;
  if (contracts.length + memory.length + warnings.length === 0) return null;
  return (
    <section className="section" aria-labelledby="section-applied">
      <h2 id="section-applied" className="section-title">
        Applied
      </h2>
      <ul className="rows">
        {contracts.map(({ contract, revision }) => (
          <li key={contract} className="row">
            <Icon name="layers" />
            <div className="row-words">
              <p dir="auto">
                <a {...linkToSection(contract)}>{plainText(contract)}</a> has revision {revision}
              </p>
            </div>
          </li>
        ))}
        {memory.length > 0 && (
          <li className="row">
            <Icon name="quote" />
            <div className="row-words">
              <p>
                <a {...linkTo("memory")}>
                  {memory.length === 1 ? "1 thing to remember" : `${memory.length} things to remember`}
                </a>{" "}
                {memory.length === 1 ? "was" : "were"} suggested
              </p>
            </div>
          </li>
        )}
        {warnings.map(({ pointer, message }, index) => (
          <li key={index} className="row" data-tone="warn">
            <Icon name="warn" />
            <div className="row-words">
              <p className="row-warning" dir="auto">
                {plainText(message)}
              </p>
              <p className="row-note">
                <code>{plainText(pointer)}</code>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Asked({ escalationId }: { escalationId: string }) {
  const escalation = useQuery(escalationQuery(escalationId)).data;
  return (
    <p className="mark handoff-asked" dir="auto">
      <Icon name={escalation ? kindOf(escalation).icon : "question"} />
      <span>
        It asked you:{" "}
        <a {...linkToOne("escalation", escalationId)}>
          {escalation ? firstLine(escalation.title ?? escalation.text) : "the escalation"}
        </a>
        {escalation?.resolution && " (settled)"}
      </span>
    </p>
  );
}

export function Told({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <section className="section" aria-labelledby="section-told">
      <h2 id="section-told" className="section-title">
        What its agent was told
      </h2>
      <pre className="told" tabIndex={0} role="region" aria-labelledby="section-told" dir="auto">
        {plainText(text)}
      </pre>
    </section>
  );
}
