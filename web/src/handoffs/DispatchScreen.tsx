/** One dispatch by its address: what is wanted, how far it got, everything that was handed over for it, turn by turn. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { dispatchQuery, handoffsQuery } from "../api/handoff-queries";
import type { Dispatch } from "../api/types";
import { linkTo, linkToOne } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { More } from "../ui/More";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { formatWhole } from "../ui/time";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { Words } from "../ui/Words";
import { DispatchHead } from "./DispatchHead";
import { HandoffCard } from "./HandoffCard";
import { Raw } from "./Raw";

export function DispatchScreen({ id }: { id: string }) {
  const { data: dispatch, isPending, isError, error, refetch } = useQuery(dispatchQuery(id));
  useEscapeBack("dispatches");
  return (
    <>
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("dispatches")}>Dispatches</a>
        </p>
        <h1 tabIndex={-1}>Dispatch</h1>
        {dispatch && (
          <p>
            Given on {formatWhole(new Date(dispatch.created_at))}
            {dispatch.completed_at !== null && `, complete since ${formatWhole(new Date(dispatch.completed_at))}`}
          </p>
        )}
      </header>
      {isPending && <Skeletons count={2} label="Reading the dispatch" />}
      {isError && dispatch === undefined && (
        <ReadError what="The dispatch" home="dispatches" error={error} onRetry={() => void refetch()} />
      )}
      {dispatch && (
        <>
          <Wanted dispatch={dispatch} />
          <HandedOver dispatch={dispatch} />
          {dispatch.envelope !== null && (
            <Raw
              title="The envelope that its agent got"
              document={dispatch.envelope}
              where={`/api/dispatches/${dispatch.id}`}
            />
          )}
        </>
      )}
    </>
  );
}

function Wanted({ dispatch }: { dispatch: Dispatch }) {
  const wanted = dispatch.envelope?.agent_contract_handoff;
  return (
    <article className="card handoff" aria-labelledby="dispatch-goal">
      <DispatchHead dispatch={dispatch} />
      <h2 id="dispatch-goal" className="words handoff-whole" dir="auto">
        <Words text={dispatch.goal} />
      </h2>
      <Lines title="It is done when" lines={wanted?.acceptance_criteria ?? []} />
      <Lines title="Within" lines={wanted?.scope ?? []} />
      <Facts dispatch={dispatch} />
    </article>
  );
}

function Lines({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="criteria">
      <h3>{title}</h3>
      <ul>
        {lines.map((line, index) => (
          <li key={index} dir="auto">
            <Words text={line} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What the gate does with its checks, those that can refuse first. */
function gateOf({ policy }: Dispatch): string {
  const named = (need: string) =>
    Object.entries(policy)
      .filter(([, value]) => value === need)
      .map(([name]) => name.replaceAll("_", " "));
  const required = named("require");
  const reported = named("report");
  const words = [
    required.length > 0 ? `requires ${required.join(", ")}` : "",
    reported.length > 0 ? `reports ${reported.join(", ")}` : "",
  ].filter((each) => each !== "");
  return words.length === 0 ? "compares nothing with the world" : words.join("; ");
}

function Facts({ dispatch }: { dispatch: Dispatch }) {
  const shown: [name: string, value: string | null, code?: boolean][] = [
    ["Turn", String(dispatch.turn)],
    ["Sent back", dispatch.repairs.length === 0 ? null : `${dispatch.repairs.length}× in this turn`],
    ["Role", dispatch.role],
    ["Agent", `${dispatch.agent_id} (${dispatch.provider})`],
    ["Folder", dispatch.folder],
    ["Its gate", gateOf(dispatch)],
  ];
  return (
    <dl className="facts">
      {shown.map(
        ([name, value]) =>
          value !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{plainText(value)}</dd>
            </div>
          ),
      )}
      {dispatch.accepted_id !== null && (
        <div>
          <dt>Accepted last</dt>
          <dd>
            <a {...linkToOne("handoff", dispatch.accepted_id)}>this handoff</a>
          </dd>
        </div>
      )}
    </dl>
  );
}

function HandedOver({ dispatch }: { dispatch: Dispatch }) {
  const found = useInfiniteQuery(handoffsQuery({ dispatch: dispatch.id }));
  const handoffs = found.data?.pages.flatMap((page) => page.handoffs) ?? [];
  const total = found.data?.pages[0]?.total ?? 0;
  useCardKeys();
  useReturnToCard(handoffs.length > 0);
  return (
    <section className="section" aria-labelledby="section-handed">
      <h2 id="section-handed" className="section-title">
        Handed over
        <span className="section-hint">{total === 0 ? "nothing yet" : `${total}, in order`}</span>
      </h2>
      <More query={found} />
      <ol className="cards">
        {handoffs.toReversed().map((handoff) => (
          <HandoffCard key={handoff.id} handoff={handoff} withDispatch={false} />
        ))}
      </ol>
    </section>
  );
}
