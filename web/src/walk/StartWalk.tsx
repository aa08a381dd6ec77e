/** Before a walk: what waits by kind, whether a walk is worth it, the button that starts one, and earlier walks. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState, type FormEvent } from "react";
import { newConfirmId } from "../api/client";
import { isActive } from "../api/escalation-list";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh, unresolvedQuery } from "../api/queries";
import type { WalkList, WalkSummary } from "../api/types";
import { startWalk } from "../api/walk-deeds";
import { walkQuery, walksQuery } from "../api/walk-queries";
import { linkToOne } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { kindOf } from "../inbox/wording";
import { Failure } from "../sessions/AskOnce";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { isCommand } from "../ui/keys";
import { plainText } from "../ui/plain-text";
import { useFocusOfStandIn } from "../ui/StandIn";
import { countsBy } from "./agenda";
import { nameOf, offerOf, STATUSES } from "./wording";

export function StartWalk({ list, onStarted }: { list: WalkList; onStarted: (id: string) => void }) {
  const { hint, walks } = list;
  const [label, setLabel] = useState("");
  useFocusOfStandIn();
  const start = useMutation({
    mutationFn: (confirmId: string) => startWalk(label.trim(), confirmId),
    onSuccess: (walk) => {
      queryClient.setQueryData(walkQuery(walk.id).queryKey, walk);
      announce(`The walk begins: ${walk.left} on the agenda`);
      onStarted(walk.id);
      void refresh(walksQuery.queryKey);
    },
    onError: (error) => {
      announce(`Not started. ${explain(error)}`);
      // Another tab was first: its walk is shown.
      if (error instanceof Refused && error.code === "walk_open") void refresh(walksQuery.queryKey);
    },
  });

  function begin(event?: FormEvent): void {
    event?.preventDefault();
    if (!start.isPending) start.mutate(newConfirmId());
  }

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "s" || event.defaultPrevented || event.repeat || !isCommand(event)) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    begin();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Walk</h1>
        <p>One sitting with the PM over everything that waits, a decision at a time.</p>
      </header>
      <section className="card walk-start" aria-labelledby="walk-waits">
        <h2 id="walk-waits" className="walk-waits">
          {hint.waiting === 0 ? "No agent waits for you" : offerOf(hint)}
        </h2>
        {hint.waiting > 0 && <Waiting />}
        {hint.offer && hint.reason !== "" && (
          <p className="mark" data-tone="warn">
            <Icon name="hand" />
            <span>{plainText(hint.reason)}</span>
          </p>
        )}
        <p className="card-hint">
          New work, work that wants a look back, suspended tasks and failed sessions of the last day come along. The walk can
          be paused at any time, and survives everything.
        </p>
        <form className="bar walk-start-bar" aria-label="Start a walk" onSubmit={begin}>
          <input
            type="text"
            className="line-input"
            aria-label="What you call it"
            placeholder="What you call it, if you like"
            maxLength={200}
            value={label}
            onChange={(event) => setLabel(event.target.value)}
          />
          <button type="submit" className="button" data-main aria-keyshortcuts="s" aria-disabled={start.isPending}>
            <Icon name="steps" /> {start.isPending ? "Starting…" : "Start the walk"} <Kbd>s</Kbd>
          </button>
        </form>
        <Failure of="Not started" error={start.error} />
      </section>
      {walks.length > 0 && <Recent walks={walks} />}
    </>
  );
}

function Waiting() {
  const active = useQuery(unresolvedQuery).data?.escalations.filter(isActive) ?? [];
  const icons = new Map(active.map((one) => [kindOf(one).label, kindOf(one).icon]));
  return (
    <ul className="walk-counts" aria-label="What waits, by kind">
      {countsBy(active, (one) => kindOf(one).label).map(([kind, count]) => (
        <li key={kind}>
          <Icon name={icons.get(kind) ?? "question"} />
          <span>{plainText(kind)}</span>
          <b>{count}</b>
        </li>
      ))}
    </ul>
  );
}

function Recent({ walks }: { walks: WalkSummary[] }) {
  return (
    <section className="section walk-recent" aria-labelledby="walk-recent">
      <h2 id="walk-recent" className="section-title">
        Earlier walks
      </h2>
      <ul className="rows">
        {walks.map((walk) => (
          <li key={walk.id} className="row">
            <div className="row-words">
              <p className="row-title">
                <a dir="auto" {...linkToOne("walk", walk.id)}>
                  {nameOf(walk)}
                </a>
              </p>
              <p className="row-note">
                {walk.items - walk.left} of {walk.items} gone through by {plainText(walk.started_by)}{" "}
                <Age since={walk.ended_at ?? walk.changed_at} ago />
              </p>
            </div>
            <span className="walk-state">
              <Mark look={STATUSES[walk.status]} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
