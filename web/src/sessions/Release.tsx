/** Letting the worktree of a session that is over go. What is only there stands above the button; its seal goes along. */
import { useMutation } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { refresh, sessionsQuery } from "../api/queries";
import { releaseSession, worktreeQuery } from "../api/session-queries";
import type { Worktree } from "../api/types";
import { announce } from "../ui/announce";
import { plainText } from "../ui/plain-text";
import { AskOnce, Failure } from "./AskOnce";
import { releaseWords } from "./wording";

export function Release({ id, tree }: { id: string; tree: Worktree }) {
  const release = useMutation({
    mutationFn: (sure: { shown: string | null; confirmId: string }) => releaseSession(id, sure.shown, sure.confirmId),
    onSuccess: () => {
      announce("Released");
      void refresh(sessionsQuery.queryKey);
      void refresh(worktreeQuery(id, false).queryKey);
    },
    onError: (error) => {
      announce(`Not released. ${explain(error)}`);
      void refresh(worktreeQuery(id, false).queryKey);
    },
  });
  return (
    <AskOnce
      opens="Release…"
      words={plainText(releaseWords(tree))}
      yes="Release it"
      no="Keep it"
      isPending={release.isPending}
      onYes={() => release.mutate({ shown: tree.seal, confirmId: newConfirmId() })}
      failure={<Failure of="Not released" error={release.error} />}
    />
  );
}
