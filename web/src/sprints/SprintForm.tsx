/** Planning a sprint, or changing one: what it is called, what it may take, when it is told of, when it ends. */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { refresh } from "../api/queries";
import { changeSprint, createSprint, HELD, SPRINTS } from "../api/sprint-queries";
import type { NewSprint, Sprint, SprintDetail } from "../api/types";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { readTokens } from "./wording";

const SHARES = ["inform", "warn", "stop"] as const;
const LABELS = { inform: "Tell at", warn: "Warn at", stop: "Stop at" } as const;

interface Props {
  /** The one that is changed; nothing where a new one is planned. */
  sprint?: Sprint;
  onLeave: () => void;
  onDone: (sprint: SprintDetail) => void;
}

interface Draft {
  title: string;
  goal: string;
  budget: string;
  inform: string;
  warn: string;
  stop: string;
  ends: string;
}

function draftOf(sprint?: Sprint): Draft {
  const shares = sprint?.burn_thresholds ?? { inform: 0.5, warn: 0.8, stop: 1 };
  const share = (value: number) => String(Math.round(value * 1_000) / 10);
  return {
    title: sprint?.title ?? "",
    goal: sprint?.goal ?? "",
    budget: sprint === undefined ? "" : sprint.token_budget.toLocaleString("en"),
    inform: share(shares.inform),
    warn: share(shares.warn),
    stop: share(shares.stop),
    ends: sprint?.ends_at == null ? "" : localMoment(new Date(sprint.ends_at)),
  };
}

/** As an input of that type has it: the operator's own clock, without a zone. */
function localMoment(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function SprintForm({ sprint, onLeave, onDone }: Props) {
  const [draft, setDraft] = useState(() => draftOf(sprint));
  const [fault, setFault] = useState<string | null>(null);
  const ids = useId();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  const save = useMutation({
    mutationFn: ({ wanted, confirmId }: { wanted: NewSprint; confirmId: string }) =>
      sprint === undefined
        ? createSprint(wanted, confirmId)
        : changeSprint(sprint.id, { ...wanted, version: sprint.version }, confirmId),
    onSuccess: (done) => {
      announce(sprint === undefined ? `Planned ${plainText(done.title)}` : `Changed ${plainText(done.title)}`);
      void refresh(SPRINTS);
      void refresh(HELD);
      onDone(done);
    },
    onError: (problem) => announce(`Not saved. ${explain(problem)}`),
  });

  function go(event: FormEvent): void {
    event.preventDefault();
    if (save.isPending) return;
    const budget = readTokens(draft.budget);
    const shares = SHARES.map((name) => Number(draft[name]) / 100);
    if (budget === null) setFault("The budget is a whole number of tokens, such as 2,000,000 or 2M.");
    else if (!shares.every((share) => share > 0)) setFault("A threshold is a share of the budget above 0 %.");
    else {
      setFault(null);
      const [inform = 0.5, warn = 0.8, stop = 1] = shares;
      const wanted = {
        title: draft.title,
        goal: draft.goal,
        token_budget: budget,
        burn_thresholds: { inform, warn, stop },
        ends_at: draft.ends === "" ? null : new Date(draft.ends).toISOString(),
      };
      save.mutate({ wanted, confirmId: newConfirmId() });
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onLeave();
  }

  const set = (name: keyof Draft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value });
  const pointer = save.error instanceof Refused ? save.error.pointer : undefined;
  const words = fault ?? (save.error === null ? null : explain(save.error));
  return (
    <form
      className="card start-form"
      aria-label={sprint === undefined ? "Plan a sprint" : "Change the sprint"}
      onSubmit={go}
      onKeyDown={onKeyDown}
    >
      <div className="field">
        <label htmlFor={`${ids}-title`}>Title</label>
        <input
          ref={first}
          id={`${ids}-title`}
          className="line-input"
          required
          value={draft.title}
          aria-invalid={pointer === "/title" || undefined}
          onChange={set("title")}
        />
      </div>
      <div className="field">
        <label htmlFor={`${ids}-goal`}>
          Goal <span className="field-optional">optional</span>
        </label>
        <textarea id={`${ids}-goal`} className="line-input" rows={2} value={draft.goal} onChange={set("goal")} />
      </div>
      <div className="start-choices">
        <div className="field">
          <label htmlFor={`${ids}-budget`}>Budget in tokens</label>
          <input
            id={`${ids}-budget`}
            className="line-input"
            required
            inputMode="text"
            placeholder="2,000,000 or 2M"
            value={draft.budget}
            aria-invalid={pointer === "/token_budget" || (fault !== null && readTokens(draft.budget) === null) || undefined}
            onChange={set("budget")}
          />
        </div>
        <div className="field">
          <label htmlFor={`${ids}-ends`}>
            Ends <span className="field-optional">optional</span>
          </label>
          <input
            id={`${ids}-ends`}
            className="line-input"
            type="datetime-local"
            value={draft.ends}
            aria-invalid={pointer === "/ends_at" || undefined}
            onChange={set("ends")}
          />
        </div>
      </div>
      <fieldset className="shares">
        <legend>Thresholds, in per cent of the budget</legend>
        {SHARES.map((name) => (
          <div key={name} className="field">
            <label htmlFor={`${ids}-${name}`}>{LABELS[name]}</label>
            <input
              id={`${ids}-${name}`}
              className="line-input"
              type="number"
              min="0.1"
              max="1000"
              step="any"
              required
              value={draft[name]}
              aria-invalid={pointer === `/burn_thresholds/${name}` || undefined}
              onChange={set(name)}
            />
          </div>
        ))}
      </fieldset>
      {words !== null && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(words)}</span>
        </p>
      )}
      <div className="bar">
        <button type="submit" className="button" data-main disabled={save.isPending}>
          {save.isPending ? "Saving…" : sprint === undefined ? "Plan it" : "Save"}
        </button>
        <button type="button" className="quiet" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}
