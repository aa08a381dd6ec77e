/** Whether what is on screen is live, always visible; and what to do when it is not for longer than a moment. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { doctorQuery } from "../api/queries";
import { reconnectNow, useConnection } from "../live/line";
import type { Connection } from "../live/stream";
import { useOutbox } from "../outbox/outbox";
import { useWords } from "../ui/Age";
import { formatMoment } from "../ui/time";
import { useHandOverFocus } from "../ui/useHandOverFocus";

const A_MOMENT = 4_000;

function wordsFor(connection: Connection, now: number): string {
  switch (connection.phase) {
    case "live":
      return "Live";
    case "connecting":
      return "Connecting";
    case "signed-out":
      return "Signed out";
    case "waiting": {
      if (!navigator.onLine) return "Offline";
      const seconds = Math.ceil((connection.retryAt - now) / 1000);
      return seconds > 0 ? `Reconnecting in ${seconds} s` : "Reconnecting";
    }
  }
}

export function ConnectionState() {
  const connection = useConnection();
  const words = useWords((now) => wordsFor(connection, now));
  return (
    <span className="connection" data-phase={connection.phase}>
      <span className="connection-dot" aria-hidden="true" />
      <span className="visually-hidden">Connection: </span>
      {words}
    </span>
  );
}

/** Since when the line is down, once that is longer than a hiccup. */
function useOutage(): number | null {
  const connection = useConnection();
  const [since, setSince] = useState<number | null>(null);
  const start = connection.phase === "waiting" ? connection.since : null;
  const live = connection.phase === "live" || connection.phase === "signed-out";
  useEffect(() => {
    if (live) setSince(null);
    if (start === null) return;
    const timer = setTimeout(() => setSince(start), Math.max(0, start + A_MOMENT - Date.now()));
    return () => clearTimeout(timer);
  }, [start, live]);
  return since;
}

export function ConnectionBanner() {
  const since = useOutage();
  return since === null ? null : <Outage since={since} />;
}

function Outage({ since }: { since: number }) {
  const banner = useRef<HTMLDivElement>(null);
  const unsent = useOutbox().letters.length;
  const isDemo = useQuery({ ...doctorQuery, enabled: false }).data?.demo === true;
  useHandOverFocus(banner);
  return (
    <div ref={banner} className="banner" role="alert">
      <p>
        <strong>Not connected.</strong> You see the state of {formatMoment(new Date(since), new Date())}.{" "}
        {isDemo ? (
          <>
            If the demo was ended in its terminal, all that it had made is gone: start it again, and open the address that
            it prints.
          </>
        ) : (
          <>
            If this lasts, start <code>gemba serve</code> in the workspace; the page takes up where it stopped, and nothing
            you typed is lost.
          </>
        )}
        {unsent > 0 && (
          <>
            {" "}
            <strong>{unsent} not sent yet:</strong> kept in this tab, and sent once when it is back.
          </>
        )}
      </p>
      <button type="button" className="button" onClick={reconnectNow}>
        Try now
      </button>
    </div>
  );
}
