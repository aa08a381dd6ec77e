/** The lines of a consult in the order in which they came, those that were not taken beside the others. */
import { useState } from "react";
import type { Consult, ConsultLine, LineError } from "../api/types";
import { Icon } from "../ui/Icon";
import { ItemId } from "../ui/ItemId";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { Actionable } from "./Actionable";
import { arrivedLines, type Arrived } from "./lines";
import type { Applying } from "./useApplying";
import { count, percent, WARNINGS } from "./wording";

/** More than anybody reads before wanting to know of more. */
const MOST_SHOWN = 200;

interface Props {
  consult: Consult;
  applying: Applying;
  /** Something of it can still be applied. */
  isOpen: boolean;
}

export function Lines({ consult, applying, isOpen }: Props) {
  const [most, setMost] = useState(MOST_SHOWN);
  const arrived = arrivedLines(consult);
  const titles = titlesOf(consult);
  return (
    <>
      <ol className="lines" aria-label="Lines" aria-busy={consult.status === "running"}>
        {arrived.slice(0, most).map((one) => (
          <LineItem key={keyOf(one)} one={one} consult={consult} applying={applying} isOpen={isOpen} titles={titles} />
        ))}
      </ol>
      {consult.status === "running" && (
        <p className="card-hint lines-coming">
          <Icon name="hourglass" size={14} />
          {arrived.length === 0 ? "Lines show here as they come." : "More may come."}
        </p>
      )}
      {arrived.length > most && (
        <p className="more">
          <button type="button" className="button" onClick={() => setMost(most + 5 * MOST_SHOWN)}>
            Show more of {count(arrived.length)}
          </button>
        </p>
      )}
    </>
  );
}

const keyOf = (one: Arrived): string => (one.kind === "line" ? `line-${one.idx}` : `error-${one.error.index}`);

/** What the epics are called, as the persona was told. */
function titlesOf(consult: Consult): ReadonlyMap<string, string> {
  const { raw_input: input } = consult.raw_request as { raw_input?: { candidate_epics?: unknown } };
  const epics = Array.isArray(input?.candidate_epics) ? (input.candidate_epics as Record<string, unknown>[]) : [];
  return new Map(epics.map((epic) => [String(epic["epic_id"]), String(epic["title"])]));
}

interface ItemProps extends Props {
  one: Arrived;
  titles: ReadonlyMap<string, string>;
}

function LineItem({ one, titles, ...rest }: ItemProps) {
  if (one.kind === "error") return <NotTaken error={one.error} />;
  const { idx, line, note } = one;
  return (
    <li className="line" data-line={idx} data-type={line.type} tabIndex={-1} aria-label={labelOf(line)}>
      <Line line={line} idx={idx} titles={titles} {...rest} />
      {note !== null && <p className="card-hint">{plainText(note)}</p>}
    </li>
  );
}

function labelOf(line: ConsultLine): string {
  return line.type === "recommendation" ? `Rank ${line.rank}` : TYPES[line.type];
}

const TYPES: Record<ConsultLine["type"], string> = {
  strategy: "Strategy",
  recommendation: "Recommendation",
  warning: "Warning",
  deferred: "Deferred",
  finding: "Finding",
  proposal: "Proposal",
  role: "Role",
  task: "Task",
  summary: "Summary",
};

function Line({ line, idx, titles, ...rest }: Omit<ItemProps, "one"> & { line: ConsultLine; idx: number }) {
  switch (line.type) {
    case "strategy":
      return (
        <>
          <p className="line-type">Strategy</p>
          <p className="words" dir="auto">
            <Words text={line.reasoning ?? ""} />
          </p>
          {"total_considered" in line && (
            <p className="card-hint">
              {count(line.total_considered)} considered, {count(line.total_ranked)} ranked
              {line.filtered ? `, ${count(line.filtered)} left out` : ""}
              {line.filter_reason && `: ${plainText(line.filter_reason)}`}
            </p>
          )}
        </>
      );
    case "recommendation":
      return (
        <Actionable
          idx={idx}
          action={line.suggested_action}
          title={<EpicName id={line.epic_id} titles={titles} />}
          rank={line.rank}
          rationale={line.rationale}
          facts={[
            `${percent(line.confidence)} sure`,
            ...(line.parallel_group == null ? [] : [`group ${plainText(String(line.parallel_group))}`]),
            ...(line.estimated_tokens == null ? [] : [`${count(line.estimated_tokens)} tokens`]),
          ]}
          {...rest}
        />
      );
    case "proposal":
      return (
        <Actionable
          idx={idx}
          action={line.suggested_action}
          title={plainText(line.title)}
          rationale={line.rationale}
          facts={[`${percent(line.confidence)} sure`]}
          {...rest}
        />
      );
    case "finding":
      return (
        <>
          <p className="line-type">Finding</p>
          <p className="words" dir="auto">
            <Words text={line.text} />
          </p>
          {line.refs !== undefined && line.refs.length > 0 && (
            <p className="card-hint line-refs">{plainText(line.refs.join(" · "))}</p>
          )}
        </>
      );
    case "warning":
      return (
        <>
          <p className="line-type" data-tone="warn">
            <Icon name="warn" size={14} />
            {WARNINGS[line.kind]}
          </p>
          <p className="words" dir="auto">
            <Words text={line.detail} />
          </p>
          <p className="card-hint line-refs">{plainText(line.epic_ids.join(" · "))}</p>
        </>
      );
    case "deferred":
      return (
        <>
          <p className="line-type">Deferred</p>
          <p className="line-title">
            <EpicName id={line.epic_id} titles={titles} />
          </p>
          <p className="words" dir="auto">
            <Words text={line.reason} />
          </p>
        </>
      );
    case "role":
      return (
        <>
          <p className="line-type">Role</p>
          <p className="line-title">
            {plainText(line.name)} <code>{plainText(line.prefix)}</code>
          </p>
          {line.capabilities !== undefined && line.capabilities.length > 0 && (
            <p className="card-hint">{plainText(line.capabilities.join(" · "))}</p>
          )}
        </>
      );
    case "task":
      return (
        <>
          <p className="line-type">Task</p>
          <p className="line-title">
            <code>{plainText(line.id)}</code> {plainText(line.owner)}
          </p>
          <p className="words" dir="auto">
            <Words text={line.goal} />
          </p>
          <TaskFacts line={line} />
        </>
      );
    case "summary":
      if ("suggested_action" in line && line.suggested_action)
        return (
          <Actionable
            idx={idx}
            action={line.suggested_action}
            title="The plan"
            rationale={line.notes}
            facts={[]}
            {...rest}
          />
        );
      return (
        <>
          <p className="line-type">Summary</p>
          <p className="words" dir="auto">
            <Words text={line.notes} />
          </p>
          {"ranked" in line && (
            <p className="card-hint">
              {count(line.ranked)} ranked · {count(line.warnings)} warnings · {count(line.deferred)} deferred ·{" "}
              {count(line.estimated_total_tokens)} tokens
            </p>
          )}
        </>
      );
  }
}

/** What a task of a plan waits for, and how anybody sees that it is done. */
function TaskFacts({ line }: { line: Extract<ConsultLine, { type: "task" }> }) {
  const { blocked_by: before = [], acceptance = [] } = line;
  return (
    <>
      {before.length > 0 && <p className="card-hint line-refs">after {plainText(before.join(" · "))}</p>}
      {acceptance.map((one, place) => (
        <p key={place} className="card-hint" dir="auto">
          {plainText(one)}
        </p>
      ))}
    </>
  );
}

function EpicName({ id, titles }: { id: string; titles: ReadonlyMap<string, string> }) {
  const title = titles.get(id);
  return (
    <>
      {title !== undefined && <>{plainText(title)} </>}
      <ItemId id={id} />
    </>
  );
}

/** A line that broke a rule, as it came. */
function NotTaken({ error }: { error: LineError }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="line" data-type="error" tabIndex={-1} data-line={`error-${error.index}`} aria-label="Not taken">
      <p className="line-type" data-tone="bad">
        <Icon name="refused" size={14} />
        Not taken: <code>{plainText(error.rule)}</code>
      </p>
      <p className="words">{plainText(error.reason)}</p>
      <details className="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron" size={12} />
          <span>As it came</span>
        </summary>
        {open && (
          <pre className="raw-text" tabIndex={0} role="region" aria-label="As it came" dir="ltr">
            {plainText(JSON.stringify(error.raw, null, 2).slice(0, 20_000))}
          </pre>
        )}
      </details>
    </li>
  );
}
