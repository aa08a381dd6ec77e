/** One rule: what it matches, what it answers, where it comes from, how often it was used; and revoking it, which asks once. */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { refresh, rulesQuery } from "../api/queries";
import type { Rule } from "../api/types";
import { linkToOne } from "../app/routes";
import { kindOf } from "../inbox/wording";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { focusCard } from "../ui/card-focus";
import { Icon } from "../ui/Icon";
import { isCommand } from "../ui/keys";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";

async function revoke(id: string, confirmId: string) {
  const params = { path: { id }, header: { "X-GEMBA-Confirm": confirmId } };
  return payload(await api.POST("/api/rules/{id}/revoke", { params, body: {} }));
}

/** Made again from its source: the way back from a revocation. */
async function makeAgain({ source, answer, schema }: Rule, confirmId: string) {
  const params = { header: { "X-GEMBA-Confirm": confirmId } };
  const { option = null, value, text } = answer;
  const same = option !== null ? { option } : schema !== null ? { value } : { text };
  return payload(await api.POST("/api/rules", { params, body: { escalation_id: source, ...same } }));
}

export function RuleCard({ rule, wanted }: { rule: Rule; wanted: boolean }) {
  const card = useRef<HTMLElement>(null);
  const [asking, setAsking] = useState(false);
  const live = rule.revoked_at === null;
  const change = useMutation({
    mutationFn: (confirmId: string): Promise<unknown> =>
      live ? revoke(rule.id, confirmId) : makeAgain(rule, confirmId),
    onSuccess: () => {
      announce(live ? "Revoked" : "Made again");
      setAsking(false);
      void refresh(rulesQuery.queryKey);
    },
    onError: (error) => announce(`Not done. ${explain(error)}`),
  });
  useEffect(() => {
    if (wanted && card.current) focusCard(card.current);
  }, [wanted]);
  const act = () => !change.isPending && change.mutate(newConfirmId());

  function onKeyDown(event: KeyboardEvent): void {
    if (!isCommand(event) || event.repeat) return;
    if (event.key === "Escape" && asking) leave();
    else if (event.key === "d" && live && !asking) setAsking(true);
    else return;
    event.preventDefault();
  }

  function leave(): void {
    setAsking(false);
    card.current?.focus({ preventScroll: true });
  }

  return (
    <li className="slot">
      <article
        ref={card}
        className="card"
        tabIndex={-1}
        aria-labelledby={`rule-${rule.id}`}
        data-rule-id={rule.id}
        data-settled={live ? undefined : "settled"}
        onKeyDown={onKeyDown}
      >
        <header className="card-head">
          <span className="kind">
            <Icon name={kindOf(rule).icon} />
            {kindOf(rule).label}
          </span>
          <span>
            made by {plainText(rule.made_by)} <Age since={rule.made_at} ago /> from{" "}
            <a {...linkToOne("escalation", rule.source)}>this question</a>
          </span>
          <span className="age">
            <span>
              used {rule.uses}×
              {rule.last_used_at !== null && (
                <>
                  , last <Age since={rule.last_used_at} ago />
                </>
              )}
            </span>
          </span>
        </header>
        <h3 id={`rule-${rule.id}`} className="words rule-question" dir="auto">
          <Words text={rule.text} />
        </h3>
        {rule.options.length > 0 && (
          <p className="card-hint">Offers {rule.options.map((one) => plainText(one)).join(", ")}</p>
        )}
        <p className="rule-answer" dir="auto">
          <span className="assumption-label">Answer</span>
          <span>{plainText(rule.answer.text)}</span>
        </p>
        <div className="bar">
          {live && !asking && (
            <button type="button" className="quiet" aria-keyshortcuts="d" onClick={() => setAsking(true)}>
              Revoke…
            </button>
          )}
          {live && asking && <ConfirmRevoke busy={change.isPending} onYes={act} onNo={leave} />}
          {!live && (
            <>
              <span className="card-hint">
                Revoked by {plainText(rule.revoked_by ?? "")} <Age since={rule.revoked_at ?? rule.made_at} ago />
              </span>
              <button type="button" className="quiet" onClick={act}>
                <Icon name="undo" /> Make it again
              </button>
            </>
          )}
        </div>
        {change.isError && (
          <p className="mark" data-tone="bad" role="alert">
            <Icon name="warn" />
            <span>Not done. {explain(change.error)}</span>
          </p>
        )}
      </article>
    </li>
  );
}

function ConfirmRevoke({ busy, onYes, onNo }: { busy: boolean; onYes: () => void; onNo: () => void }) {
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => yes.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <span className="bar-label">From now on you are asked again. What it answered stays answered.</span>
      <button ref={yes} type="button" className="button" disabled={busy} onClick={onYes}>
        Revoke
      </button>
      <button type="button" className="quiet" onClick={onNo}>
        Keep it
      </button>
    </>
  );
}
