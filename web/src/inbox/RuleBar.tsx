/**
 * "Always answer this so": the answer to give from now on, and exactly what it will be given to, before it is made. The rule
 * answers what comes later; this question is answered with the same words at once.
 */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { SchemaForm, type Focusable } from "../answer/SchemaForm";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { refresh, rulesQuery } from "../api/queries";
import type { Answer, Escalation } from "../api/types";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { Choices } from "./Choices";
import { answerAsBefore, answerInWords, choicesOf, mannerOf } from "./choices";
import { ReplyBox } from "./ReplyBox";
import { answerOf, kindOf } from "./wording";

interface Props {
  escalation: Escalation;
  draft: string;
  /** The rule is there: its question gets the same answer. */
  onRule: (answer: Answer, words: string) => void;
  onCancel: () => void;
}

async function makeRule(escalation: Escalation, answer: Answer, confirmId: string) {
  const params = { header: { "X-GEMBA-Confirm": confirmId } };
  const body = { escalation_id: escalation.id, ...answer };
  return payload(await api.POST("/api/rules", { params, body }));
}

export function RuleBar({ escalation, draft, onRule, onCancel }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<Focusable>(null);
  const manner = mannerOf(escalation);
  const [text, setText] = useState(() => draft || earlierWords(escalation));
  const mutation = useMutation({
    mutationFn: ({ answer, confirmId }: { answer: Answer; confirmId: string }) =>
      makeRule(escalation, answer, confirmId),
    onSuccess: (_rule, { answer }) => {
      announce("From now on this is answered so");
      void refresh(rulesQuery.queryKey);
      onRule(answer, "Rule made, reply sent");
    },
    onError: (error) => announce(`No rule was made. ${explain(error)}`),
  });
  useEffect(() => {
    if (field.current) field.current.focus({ preventScroll: true });
    else box.current?.querySelector<HTMLElement>(".choices button")?.focus({ preventScroll: true });
  }, []);
  const offered = escalation.options.map((one) => plainText(one)).join(", ");
  const make = (answer: Answer) => !mutation.isPending && mutation.mutate({ answer, confirmId: newConfirmId() });

  return (
    <div ref={box} className="rule-bar" role="group" aria-label="Always answer this so">
      <div className="rule-head">
        <h4>Always answer this so</h4>
        <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
          <Icon name="close" />
        </button>
      </div>
      <dl className="rule-match">
        <div>
          <dt>Matches</dt>
          <dd>
            every {kindOf(escalation).label.toLowerCase()} of any session that says{" "}
            <q dir="auto">{firstLine(escalation.text, 300)}</q>
            {offered !== "" && <> and offers {offered}</>}
            {escalation.schema !== null && <> and wants an answer of this form</>}
          </dd>
        </div>
        <div>
          <dt>Aside from</dt>
          <dd>
            case, accents, politeness and filler words. Numbers, names, paths, quoted text and negations must be the
            same to the letter.
          </dd>
        </div>
      </dl>
      {manner === "choice" ? (
        <Choices choices={choicesOf(escalation)} disabled={mutation.isPending} onChoose={(one) => make(one.answer)} />
      ) : manner === "typed" ? (
        <SchemaForm
          ref={field}
          schema={escalation.schema ?? {}}
          draft={text}
          onDraft={setText}
          onValue={(value) => make({ value })}
          onLeave={onCancel}
          error={mutation.error}
          disabled={mutation.isPending}
          action="Make the rule and answer"
        />
      ) : (
        <div className="foot">
          <ReplyBox
            ref={field as React.Ref<HTMLTextAreaElement>}
            label="Answer from now on"
            placeholder="Answer from now on…"
            text={text}
            onText={setText}
            onSend={() => text.trim() !== "" && make(answerInWords(escalation, text))}
            onLeave={onCancel}
            canSend
          />
        </div>
      )}
      <p className="card-hint">
        It answers what is asked from now on, and this one. You see and revoke it under Rules.
      </p>
      {mutation.isError && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>No rule was made. {explain(mutation.error)}</span>
        </p>
      )}
    </div>
  );
}

/** What was answered before, here or to a like question: the likeliest answer for all that follow. */
function earlierWords({ resolution, precedent, schema, channel, options }: Escalation): string {
  if (schema !== null) return "";
  if (resolution !== null) return answerOf(resolution) ?? "";
  return precedent === null ? "" : (answerAsBefore({ schema, channel, options }, precedent).text ?? "");
}
