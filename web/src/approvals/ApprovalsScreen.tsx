/** Every command that was asked about: how it stands, who decided it and when, whether it ran and how that ended. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { approvalHistoryQuery } from "../api/approval-queries";
import type { Approval } from "../api/types";
import { linkTo, linkToOne } from "../app/routes";
import { Age, useWords } from "../ui/Age";
import { Icon, type IconName } from "../ui/Icon";
import { More } from "../ui/More";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { Seal } from "./Seal";
import { stateOf } from "./wording";

export function ApprovalsScreen() {
  const history = useInfiniteQuery(approvalHistoryQuery);
  const approvals = history.data?.pages.flatMap((page) => page.approvals) ?? [];
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
      <ul className="rows">
        {approvals.map((approval) => (
          <ApprovalRow key={approval.id} approval={approval} />
        ))}
      </ul>
      <More query={history} />
    </>
  );
}

const ICONS: Record<Approval["state"], IconName> = {
  pending: "hourglass",
  approved: "check",
  superseded: "undo",
  refused: "close",
  expired: "clock",
  withdrawn: "close",
};

function ApprovalRow({ approval }: { approval: Approval }) {
  const { command, escalation_id, session_id, set_id, position, grant_state } = approval;
  const words = useWords((now) => stateOf(approval, now));
  return (
    <li className="row" data-approval-id={approval.id} data-tone={grant_state === "failed" ? "warn" : undefined}>
      <Icon name={ICONS[approval.state]} />
      <div className="row-words">
        <p className="row-title" dir="ltr">
          <a {...linkToOne("escalation", escalation_id)}>
            <code>{firstLine(command)}</code>
          </a>
        </p>
        <p className="row-answer approval-state">{words}</p>
        <p className="row-note">
          <a {...linkToOne("session", session_id)}>{plainText(session_id)}</a> · asked{" "}
          <Age since={approval.created_at} ago />
          {approval.decided_at !== null && (
            <>
              {" "}
              · decided <Age since={approval.decided_at} ago />
            </>
          )}
          {approval.consumed_at !== null && (
            <>
              {" "}
              · used <Age since={approval.consumed_at} ago />
            </>
          )}
          {set_id !== null && ` · step ${position} of a plan`}
        </p>
        <details className="seal-fold">
          <summary>
            <Icon name="chevron" size={12} />
            What was sealed
            <span className="visually-hidden">: {firstLine(command, 60)}</span>
          </summary>
          <Seal approval={approval} />
        </details>
      </div>
    </li>
  );
}
