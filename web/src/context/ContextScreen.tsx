/** What is known of the project, by section: what agents are given before they work, and what their handoffs changed. */
import { useQuery } from "@tanstack/react-query";
import { contextQuery } from "../api/queries";
import { useParameter } from "../app/routes";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { SectionCard } from "./SectionCard";

const EXAMPLE = `[section.architecture]
paths = ["src/**", "docs/**"]
writers = ["architect"]`;

export function ContextScreen() {
  // The file that declares the sections may have changed, and no event tells.
  const { data, isPending, isError, error, refetch } = useQuery({ ...contextQuery, staleTime: 0 });
  const [wanted] = useParameter("section");
  useCardKeys();
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Context</h1>
        <p>What is known of this project. Agents are given it before they work; what they hand off updates it.</p>
      </header>
      {isPending && <Skeletons count={2} label="Reading what is known" />}
      {isError && data === undefined && <ReadError what="The sections" error={error} onRetry={() => void refetch()} />}
      {data?.sections.length === 0 && (
        <EmptyState title="No section is declared">
          <p>
            A section is a part of what is known, with the paths it is about and the roles that may write it. Declare one
            in <code>.gemba/context.toml</code>:
          </p>
          <pre tabIndex={0} aria-label="Example of a section">
            <code>{EXAMPLE}</code>
          </pre>
        </EmptyState>
      )}
      <ol className="cards">
        {data?.sections.map((section) => (
          <SectionCard key={section.name} section={section} wanted={section.name === wanted} />
        ))}
      </ol>
    </>
  );
}
