/** The answers that are given without asking the operator again: each with its source, its uses, and the way to revoke it. */
import { useQuery } from "@tanstack/react-query";
import { rulesQuery } from "../api/queries";
import { useParameter } from "../app/routes";
import { Kbd } from "../ui/Kbd";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { RuleCard } from "./RuleCard";

export function RulesScreen() {
  const { data, isPending, isError, error, refetch } = useQuery(rulesQuery);
  const [wanted] = useParameter("rule");
  useCardKeys();
  const rules = data?.rules ?? [];
  const live = rules.filter((rule) => rule.revoked_at === null);
  const older = (data?.total ?? 0) - rules.length;
  const revoked = rules.filter((rule) => rule.revoked_at !== null);
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Rules</h1>
        <p>Questions that are answered as you said, without asking you again.</p>
      </header>
      {isPending && <Skeletons count={2} label="Reading the rules" />}
      {isError && data === undefined && <ReadError what="The rules" error={error} onRetry={() => void refetch()} />}
      {data !== undefined && live.length === 0 && (
        <EmptyState title="No question is answered by a rule">
          <p>
            When agents ask the same again and again, go to a card in the inbox and press <Kbd>Shift+R</Kbd>
            <span className="visually-hidden">Shift and R</span> or choose “Always answer this so”. You see what the
            rule matches before it is made, and you can revoke it here.
          </p>
        </EmptyState>
      )}
      <ol className="cards">
        {live.map((rule) => (
          <RuleCard key={rule.id} rule={rule} wanted={rule.id === wanted} />
        ))}
      </ol>
      {revoked.length > 0 && (
        <section className="section" aria-labelledby="section-revoked">
          <h2 id="section-revoked" className="section-title">
            Revoked
            <span className="section-hint">they answer nothing any more</span>
          </h2>
          <ol className="cards">
            {revoked.map((rule) => (
              <RuleCard key={rule.id} rule={rule} wanted={rule.id === wanted} />
            ))}
          </ol>
        </section>
      )}
      {older > 0 && <p className="more">{older.toLocaleString()} older ones are in the API.</p>}
    </>
  );
}
