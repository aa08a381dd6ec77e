/** Whether this browser notifies of what newly waits while nobody looks at the page. */
import { useNotifying, type Notifying } from "../app/notifications";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";

const WORDS: Record<Notifying, string> = {
  on: "While you look elsewhere, this browser tells you what newly waits. A click on it leads to the card.",
  off: "While you look elsewhere, this browser can tell you what newly waits.",
  refused: "This browser was told never to notify for this page. Its own settings of the page can allow it again.",
  impossible: "This browser cannot notify for this address; it can on this machine’s own (127.0.0.1) and over https.",
};

export function NotifyChoice() {
  const { state, switchTo } = useNotifying();
  return (
    <section className="section" aria-labelledby="section-notify">
      <h2 id="section-notify" className="section-title">
        This browser
        <span className="section-hint">Kept here, not in a file.</span>
      </h2>
      <div className="panel settings-notify">
        <Icon name={state === "on" ? "check" : "speech"} />
        <p>{WORDS[state]}</p>
        {(state === "on" || state === "off") && (
          <button
            type="button"
            className="button"
            aria-pressed={state === "on"}
            onClick={() => {
              void switchTo(state === "off").then(() => announce(state === "off" ? "Asked the browser" : "No notifications any more"));
            }}
          >
            {state === "on" ? "No longer" : "Notify me"}
          </button>
        )}
      </div>
    </section>
  );
}
