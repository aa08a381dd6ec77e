/** An answer that must pass a check or a second person before it is given: what it says, whom it waits for, and a refusal. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { meQuery } from "../api/queries";
import type { Proposal } from "../api/types";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { plainText } from "../ui/plain-text";
import { deeds, type Deed } from "./deeds";
import { ReasonBar } from "./ReasonBar";

interface Props {
  proposal: Proposal;
  disabled: boolean;
  onDeed: (deed: Deed) => void;
  onLeave: () => void;
}

export function ProposalMark(props: Props) {
  const { proposal } = props;
  const refused = proposal.state === "refused";
  const words = proposal.text || proposal.decision || proposal.action || "";
  return (
    <div className="proposal" data-state={proposal.state}>
      <p>
        <Icon name={refused ? "close" : "hourglass"} />
        <span>
          <strong>{refused ? "Not given" : "Proposed"}</strong> by {plainText(proposal.by)}{" "}
          <Age since={proposal.at} ago />: <q dir="auto">{plainText(words)}</q>
          {refused && proposal.note !== null && (
            <span className="proposal-note" dir="auto">
              {plainText(proposal.note)}
            </span>
          )}
        </span>
      </p>
      {!refused && proposal.verifier === "check" && <p className="card-hint">Waits for the check of its policy.</p>}
      {!refused && proposal.verifier === "person" && <SecondPerson {...props} />}
    </div>
  );
}

function SecondPerson({ proposal, disabled, onDeed, onLeave }: Props) {
  const me = useQuery(meQuery).data?.operator;
  const [refusing, setRefusing] = useState(false);
  const own = proposal.by === me;
  const leave = () => {
    setRefusing(false);
    onLeave();
  };
  if (refusing)
    return (
      <ReasonBar
        label={own ? "Why you take it back" : "Why it must not be given"}
        action={own ? "Take back" : "Refuse"}
        required
        onReason={(why) => onDeed(deeds.reject(why))}
        onCancel={leave}
      />
    );
  return (
    <div className="bar" role="group" aria-label="Second person">
      <button
        type="button"
        className="button"
        aria-keyshortcuts="c"
        disabled={disabled || own}
        aria-describedby={own ? `own-${proposal.at}` : undefined}
        onClick={() => onDeed(deeds.confirm())}
      >
        Confirm <Kbd>c</Kbd>
      </button>
      <button type="button" className="quiet" disabled={disabled} onClick={() => setRefusing(true)}>
        {own ? "Take back…" : "Refuse…"}
      </button>
      <span id={`own-${proposal.at}`} className="card-hint">
        {own ? "You proposed it: somebody else must confirm." : "A second person must confirm it before it is given."}
      </span>
    </div>
  );
}
