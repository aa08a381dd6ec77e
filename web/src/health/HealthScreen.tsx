/** Is everything well: the server's own checks, its counters, and the sessions it hears from. */
import { useQuery } from "@tanstack/react-query";
import { doctorQuery, sessionsQuery } from "../api/queries";
import { Age } from "../ui/Age";
import { ReadError, Skeletons } from "../ui/Notice";
import { Checks } from "./Checks";
import { Counters } from "./Counters";
import { Sessions } from "./Sessions";

/** Checks and last frames have no event of their own; they are read again while somebody looks at them. */
const WHILE_LOOKING = 15_000;

const VERDICTS = {
  ok: "Everything is in order.",
  warn: "It works, and something wants a look.",
  fail: "Something does not work.",
};

export function HealthScreen() {
  const doctor = useQuery({ ...doctorQuery, refetchInterval: WHILE_LOOKING, staleTime: 0 });
  const sessions = useQuery({ ...sessionsQuery, refetchInterval: WHILE_LOOKING });
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Health</h1>
        {doctor.data && (
          <p>
            {VERDICTS[doctor.data.status]} Gemba {doctor.data.version}
            {doctor.data.started_at !== null && (
              <>
                , started <Age since={doctor.data.started_at} ago />
              </>
            )}
            .
          </p>
        )}
      </header>
      {doctor.isPending && <Skeletons count={3} label="Asking the doctor" />}
      {doctor.isError && doctor.data === undefined && (
        <ReadError what="The checks" error={doctor.error} onRetry={() => void doctor.refetch()} />
      )}
      {doctor.data && <Checks checks={doctor.data.checks} />}
      {sessions.isError && sessions.data === undefined && (
        <ReadError what="The sessions" error={sessions.error} onRetry={() => void sessions.refetch()} />
      )}
      {sessions.data && <Sessions sessions={sessions.data.sessions} />}
      {doctor.data && <Counters counters={doctor.data.counters} />}
    </>
  );
}
