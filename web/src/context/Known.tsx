/** What a section says. A long value is not in the list of sections: it is read when somebody wants to see it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { contextSectionQuery } from "../api/queries";
import type { ContextSection } from "../api/types";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { Value } from "./Value";

export function Known({ value }: { value: Record<string, unknown> }) {
  if (Object.keys(value).length === 0) return <p className="card-hint">Nothing is known here yet.</p>;
  return (
    <div className="section-value">
      <Value value={value} />
    </div>
  );
}

export function LongValue({ section: { name, revision, length } }: { section: ContextSection }) {
  const [isWanted, setIsWanted] = useState(false);
  const { data, isPending, isError, error, refetch } = useQuery({
    ...contextSectionQuery(name, revision),
    enabled: isWanted,
  });
  if (!isWanted)
    return (
      <button type="button" className="link-button" onClick={() => setIsWanted(true)}>
        Show what is known in {plainText(name)} ({length.toLocaleString()} characters)
      </button>
    );
  return (
    <>
      {isPending && <Skeletons count={1} label="Reading what is known" />}
      {isError && <ReadError what="The section" error={error} onRetry={() => void refetch()} />}
      {data?.value && <Known value={data.value} />}
    </>
  );
}
