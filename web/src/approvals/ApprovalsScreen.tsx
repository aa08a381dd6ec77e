/** Every command that was asked about: how it stands, who decided it and when, whether it ran and how that ended. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { approvalHistoryQuery } from "../api/approval-queries";
import { linkTo } from "../app/routes";
import { More } from "../ui/More";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { ApprovalRow } from "./ApprovalRow";

export function ApprovalsScreen() {
  const history = useInfiniteQuery(approvalHistoryQuery);
  const approvals = history.data?.pages.flatMap((page) => page.approvals) ?? [];
  useCardKeys();
  useReturnToCard(approvals.length > 0);
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Approvals</h1>
        <p>
          Commands that ran, or did not, because somebody decided so. What waits is in the{" "}
          <a {...linkTo("inbox")}>inbox</a>; whether the record is as it was written stands under{" "}
          <a {...linkTo("health")}>Health</a>.
        </p>
      </header>
      {history.isPending && <Skeletons count={3} label="Reading the approvals" />}
      {history.isError && history.data === undefined && (
        <ReadError what="The approvals" error={history.error} onRetry={() => void history.refetch()} />
      )}
      {history.isSuccess && approvals.length === 0 && (
        <EmptyState title="No command was asked about yet">
          <p>
            After <code className="code-span">gemba install-bridge --approvals</code> Claude Code asks before it runs a
            command that changes something. The question comes to the inbox; what became of it stands here.
          </p>
        </EmptyState>
      )}
      <ul className="rows record">
        {approvals.map((approval) => (
          <ApprovalRow key={approval.id} approval={approval} />
        ))}
      </ul>
      <More query={history} />
    </>
  );
}
