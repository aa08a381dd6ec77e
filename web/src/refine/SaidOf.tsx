/** What the PM says about an item: findings, and proposals that are applied one by one. */
import { useMutation } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { applyLine, consultQuery } from "../api/consult-queries";
import { BACKLOG } from "../api/refine-queries";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import type { Proposal, Said } from "./rows";

interface Props {
  said: Said;
  consult: string;
  applied: readonly number[];
  canApply: boolean;
}

export function SaidOf({ said, consult, applied, canApply }: Props) {
  return (
    <ul className="refine-said">
      {said.findings.map(({ idx, text }) => (
        <li key={idx} className="refine-finding" dir="auto">
          <Words text={text} />
        </li>
      ))}
      {said.proposals.map((proposal) => (
        <ProposalLine
          key={proposal.idx}
          proposal={proposal}
          consult={consult}
          isApplied={applied.includes(proposal.idx)}
          canApply={canApply}
        />
      ))}
    </ul>
  );
}

interface LineProps {
  proposal: Proposal;
  consult: string;
  isApplied: boolean;
  canApply: boolean;
}

function ProposalLine({ proposal, consult, isApplied, canApply }: LineProps) {
  const { idx, title, rationale, confidence, does } = proposal;
  const apply = useMutation({
    mutationFn: (confirmId: string) => applyLine(consult, idx, confirmId),
    onSuccess: ({ applied_idx }) => {
      queryClient.setQueryData(consultQuery(consult).queryKey, (known) => known && { ...known, applied_idx });
      announce(`Applied: ${plainText(does)}`);
    },
    onError: (error) => announce(`Not applied. ${explain(error)}`),
    onSettled: () => Promise.all([refresh(BACKLOG), refresh(consultQuery(consult).queryKey)]),
  });
  return (
    <li className="refine-proposal">
      <span className="refine-proposal-words" dir="auto">
        <strong>
          <Words text={title} />
        </strong>{" "}
        <Words text={rationale} />
        <span className="card-hint">
          {" "}
          {plainText(does)} · {Math.round(confidence * 100)} % sure
        </span>
      </span>
      {isApplied ? (
        <span className="refine-done">
          <Icon name="check" /> Applied
        </span>
      ) : (
        canApply && (
          // Not disabled meanwhile: that would lose the focus.
          <button
            type="button"
            className="button"
            data-apply
            aria-keyshortcuts="a"
            aria-disabled={apply.isPending}
            onClick={() => !apply.isPending && apply.mutate(newConfirmId())}
          >
            {apply.isPending ? "Applying…" : apply.isError ? "Try again" : "Apply"}
            <span className="visually-hidden">: {plainText(title)}</span>
            <Kbd>a</Kbd>
          </button>
        )
      )}
      {apply.isError && !isApplied && (
        <span className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(explain(apply.error))}</span>
        </span>
      )}
    </li>
  );
}
