/** What happens to what nobody answers, and whom Gemba notifies: as the workspace's file says it. Read-only. */
import { useQuery } from "@tanstack/react-query";
import { policiesQuery } from "../api/queries";
import { settingsQuery } from "../api/setting-queries";
import { linkToSettings } from "../app/routes";
import type { NotifyChannel, Policy } from "../api/types";
import { Icon } from "../ui/Icon";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { HoldChoice } from "./HoldChoice";
import { sentenceOf, stepsOf, verifyWords } from "./sentence";

const EXAMPLE = `[[policy]]
name = "urgent"
urgency = "blocking"
remind_after = "10m"
repeat_every = "30m"
repeat_at_most = 5
notify = ["page"]
expire_after = "8h"`;

export function PoliciesScreen() {
  const { data, isPending, isError, error, refetch } = useQuery({ ...policiesQuery, staleTime: 0 });
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Policies</h1>
        {data && (
          <p>
            What happens to what nobody answers. They stand in{" "}
            <a {...linkToSettings("workspace.toml", null)}>
              <code>{plainText(data.file)}</code>
            </a>
            , the first that fits
            is taken, and a change counts from the server’s next start.
          </p>
        )}
      </header>
      <NotInForce />
      {isPending && <Skeletons count={2} label="Reading the policies" />}
      {isError && data === undefined && <ReadError what="The policies" error={error} onRetry={() => void refetch()} />}
      {data && data.policies.length === 0 && (
        <EmptyState title="Everything waits until you answer">
          <p>
            No policy reminds, notifies or gives up. To have one, write into <code>{plainText(data.file)}</code>:
          </p>
          <pre tabIndex={0} aria-label="Example of a policy">
            <code>{EXAMPLE}</code>
          </pre>
        </EmptyState>
      )}
      <ol className="cards">
        {data?.policies.map((policy) => (
          <PolicyCard key={policy.name} policy={policy} />
        ))}
      </ol>
      {data && (
        <section className="section" aria-labelledby="section-channels">
          <h2 id="section-channels" className="section-title">
            Channels
          </h2>
          <ul className="panel">
            {data.channels.map((channel) => (
              <ChannelLine key={channel.name} channel={channel} />
            ))}
          </ul>
        </section>
      )}
      <HoldChoice />
    </>
  );
}

/** What the file says by now and the server, which read it at its start, does not do yet. */
function NotInForce() {
  const settings = useQuery(settingsQuery).data;
  const mine = settings?.said.filter(({ part }) => part === "policies" || part === "channels") ?? [];
  const waiting = mine.flatMap(({ name, value }) => {
    const running = settings?.waiting[name];
    return running === undefined ? [] : [{ name, value, running }];
  });
  if (waiting.length === 0) return null;
  return (
    <div className="mark" data-tone="warn" role="note" aria-label="Saved, not in force yet">
      <Icon name="clock" />
      <div>
        <p>Saved, and not in force yet: it counts from the server’s next start. Until then what stands below holds.</p>
        <ul>
          {waiting.map(({ name, value, running }) => (
            <li key={name} dir="auto">
              <b>{plainText(name)}</b> will be: {plainText(value)}. Now: {plainText(running)}.
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function PolicyCard({ policy }: { policy: Policy }) {
  const steps = stepsOf(policy);
  const verify = verifyWords(policy);
  return (
    <li className="slot">
      <article className="card" aria-labelledby={`policy-${policy.name}`} data-policy={policy.name}>
        <h3 id={`policy-${policy.name}`} className="card-title">
          {plainText(policy.name)}
        </h3>
        <p className="card-text" dir="auto">
          {plainText(sentenceOf(policy))}
        </p>
        {steps.length > 0 && (
          <ol className="timeline" aria-label="What happens when">
            <li>
              <span className="timeline-when">at once</span>
              <span>it stands in the inbox</span>
            </li>
            {steps.map((step) => (
              <li key={step.when + step.what}>
                <span className="timeline-when">{step.when}</span>
                <span dir="auto">{plainText(step.what)}</span>
              </li>
            ))}
          </ol>
        )}
        {verify !== null && (
          <p className="card-hint">
            <Icon name="stamp" size={14} /> {plainText(verify)}
          </p>
        )}
      </article>
    </li>
  );
}

function targetOf({ kind, target, members }: NotifyChannel): string {
  if (kind === "page") return "this page, wherever it is open";
  if (kind === "group") return `everybody in ${members.join(", ")}`;
  return target === null ? "no address" : `by ${target}`;
}

function ChannelLine({ channel }: { channel: NotifyChannel }) {
  return (
    <li className="check" data-channel={channel.name} data-status={channel.ok ? "ok" : "fail"}>
      <span className="check-mark">
        <Icon name={channel.ok ? "check" : "warn"} size={14} />
      </span>
      <div className="channel-words">
        <h3>
          {plainText(channel.name)}
          <span className="visually-hidden">: {channel.ok ? "can be used" : "cannot be used"}</span>
        </h3>
        <p>{plainText(targetOf(channel))}</p>
        {channel.problem !== null && <p className="check-hint">{plainText(channel.problem)}</p>}
      </div>
    </li>
  );
}
