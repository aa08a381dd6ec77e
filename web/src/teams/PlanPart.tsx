/** How a run was planned: what its text was taken to ask for and by which words, the roles with their specs, how it runs. */
import type { TeamRun } from "../api/types";
import { linkToOne } from "../app/routes";
import { Markdown } from "../ui/Markdown";
import { plainText } from "../ui/plain-text";
import { formatSeconds } from "../ui/time";
import { analysisOf, bodyOf, isFromText, rolesOf, type Analysis, type Role } from "./analysis";

export function PlanPart({ run }: { run: TeamRun }) {
  const analysis = analysisOf(run);
  const roles = rolesOf(run);
  return (
    <>
      <section className="section" aria-labelledby="team-analysis">
        <h2 id="team-analysis" className="section-title">
          What the text asks for
        </h2>
        {run.planned_by !== null && <PlannedBy by={run.planned_by} />}
        {!isFromText(analysis, roles) && (
          <p className="card-hint">The plan was given with the run. This is what its text alone would have asked for.</p>
        )}
        <Asked analysis={analysis} />
      </section>
      <section className="section" aria-labelledby="team-roles">
        <h2 id="team-roles" className="section-title">
          Roles <span className="section-hint">{roles.length}</span>
        </h2>
        <ul className="rows">
          {roles.map((role) => (
            <RoleRow key={role.name} role={role} many={run.all_tasks.filter(({ owner }) => owner === role.name).length} />
          ))}
        </ul>
      </section>
      <section className="section" aria-labelledby="team-settings">
        <h2 id="team-settings" className="section-title">
          How it runs
        </h2>
        <Settings run={run} />
      </section>
    </>
  );
}

/** Whose plan it is, where a consult proposed it, and why it is another one's than was asked. */
function PlannedBy({ by: { consult_id: id, agent, note } }: { by: NonNullable<TeamRun["planned_by"]> }) {
  return (
    <p className="card-hint">
      Planned by {agent === null ? "the words of the text alone" : plainText(agent)} in a{" "}
      <a {...linkToOne("consult", id)}>consult</a>
      {note !== null && `: ${plainText(note)}`}
    </p>
  );
}

function Asked({ analysis: { capabilities, complexity, merges } }: { analysis: Analysis }) {
  return (
    <div className="card asked">
      <ul className="asked-list">
        {capabilities.map(({ name, words, reason }) => (
          <li key={name}>
            <strong>{plainText(name)}</strong>{" "}
            {words.length === 0 ? (
              <span className="card-hint">{plainText(reason)}</span>
            ) : (
              <span className="asked-words">
                {words.map(({ word, found, times }) => (
                  <q key={word} dir="auto">
                    {plainText(found)}
                    {times > 1 && <span className="glance-soft"> × {times}</span>}
                  </q>
                ))}
              </span>
            )}
          </li>
        ))}
      </ul>
      {complexity !== null && (
        <p>
          Complexity: <strong>{plainText(complexity.level)}</strong> <span className="card-hint">{plainText(complexity.reason)}</span>
        </p>
      )}
      {merges.map(({ name, into, reason }) => (
        <p key={name}>
          <strong>{plainText(name)}</strong> joined <strong>{plainText(into)}</strong>{" "}
          <span className="card-hint">{plainText(reason)}</span>
        </p>
      ))}
    </div>
  );
}

function RoleRow({ role, many }: { role: Role; many: number }) {
  const told = [
    `${many} ${many === 1 ? "task" : "tasks"}`,
    role.capabilities.length > 1 && `also ${role.capabilities.filter((name) => name !== role.name).join(", ")}`,
    role.loads.length > 0 && `loads ${role.loads.join(", ")}`,
  ].filter((part) => typeof part === "string");
  return (
    <li className="row">
      <div className="row-words">
        <p>
          <strong>{plainText(role.name)}</strong> <code className="item-id">{plainText(role.prefix)}</code>
        </p>
        <p className="row-note">{plainText(told.join(" · "))}</p>
        {role.spec !== "" && (
          <details className="as-table">
            <summary>Its spec</summary>
            <div className="spec">
              <Markdown text={bodyOf(role.spec)} />
            </div>
          </details>
        )}
      </div>
    </li>
  );
}

const ENDINGS: Record<string, string> = {
  keep: "the branch is kept to be looked at",
  merge: "the branch is merged",
  archive: "the branch is kept, the run is archived",
};

function Settings({ run: { settings, folder, branch } }: { run: TeamRun }) {
  const facts: [string, string][] = [
    ["Reviewer", settings.reviewer ?? "builtin"],
    ["At once", `at most ${settings.max_parallel ?? 8} tasks`],
    ["Deadline", settings.task_seconds ? `${formatSeconds(settings.task_seconds)} a turn` : "none"],
    ["When done", ENDINGS[settings.on_complete ?? "keep"] ?? ""],
    ["Folder", folder],
    ...(branch === null ? [] : [["Branch", branch] satisfies [string, string]]),
  ];
  return (
    <div className="card">
      <dl className="facts team-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{plainText(value)}</dd>
          </div>
        ))}
        {(settings.commands ?? []).map(({ name, run, dimension }) => (
          <div key={name}>
            <dt>At gates</dt>
            <dd>
              <code>{plainText(run)}</code> <span className="glance-soft">counts for {dimension}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
