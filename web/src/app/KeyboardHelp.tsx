/** The keyboard map. */
import { useEffect, useRef } from "react";
import { WALK_MAP } from "../walk/keys";
import { ROUTES } from "./routes";

const MAP: [heading: string, keys: [keys: string[], what: string][]][] = [
  [
    "Cards",
    [
      [["j", "k"], "Next, previous card, or line of a consult (or the arrows)"],
      [["1", "…", "9"], "Answer with that choice"],
      [["r"], "Reply in words; overturn (or Enter)"],
      [["p"], "Answer as before: use the precedent"],
      [["Shift", "R"], "Always answer this so: make a rule"],
      [["s"], "Snooze, then 1, 2 or 3"],
      [["d"], "Dismiss; hide a card that is settled; revoke; reject"],
      [["a"], "Remember what an agent suggests (e: edit it first); apply the line of a consult"],
      [["c"], "Confirm what somebody proposed"],
      [["o"], "Show all of a long text, or less; the history of a section"],
      [["m"], "Who else asks the same"],
      [["u"], "Undo the last answer, or change of a section; re-open what the pane resolved"],
      [["n"], "To what is new"],
      [["Enter"], "Open a session, a handoff, a dispatch; unfold an approval of the record"],
      [["Esc"], "Leave the reply, then the card; back from what was opened"],
    ],
  ],
  [
    "Several at once",
    [
      [["x"], "Select the card, or no longer"],
      [["Shift", "↓"], "Select it and the next (Shift ↑: the one before)"],
      [["Shift", "A"], "Select all that ask the same"],
      [["r"], "To the answer for all that are selected"],
    ],
  ],
  ["Walk", WALK_MAP],
  [
    "Board",
    [
      [["j", "k"], "Next, previous card of the column (or the arrows)"],
      [["←", "→"], "To the column before, to the next"],
      [["m"], "Move the card, then the number of its new column"],
      [["Enter"], "Open the item"],
      [["c"], "Make a new item"],
      [["u"], "Undo the last move"],
    ],
  ],
  [
    "Refine",
    [
      [["j", "k"], "Next, previous row (or the arrows)"],
      [["0", "…", "4"], "Give the row that priority"],
      [["s"], "Change its state (p: what it is part of, l: its labels, Enter: any of it)"],
      [["x"], "Select the row, or no longer (Shift A: all of them)"],
      [["r"], "To the question for what is selected"],
      [["a"], "Apply the first proposal for the row"],
    ],
  ],
  [
    "Team run",
    [
      [["←", "→"], "From a task in the graph to what it waits for, to what waits for it"],
      [["↑", "↓"], "To the task above, below"],
      [["Enter"], "Open the task (Esc: close it)"],
      [["1", "…", "4"], "In an opened task: accept, retry, revise or skip it, as it is numbered there"],
      [["s"], "Start a run that is planned"],
      [["p"], "Pause the run, or let it go on"],
      [["f"], "Say something to the run (i: improve what has the lowest score)"],
      [["c"], "Cancel the run, after a question (a: archive it when it is over)"],
    ],
  ],
  [
    "While you type",
    [
      [["Enter"], "Send a reply"],
      [["Shift", "Enter"], "New line in a reply"],
      [["Ctrl", "Enter"], "Send an edited command (Enter: new line)"],
    ],
  ],
  [
    "Screens",
    [
      ...Object.values(ROUTES).map(({ key, title }): [string[], string] => [["g", key], title]),
      [["/"], "Search what was answered"],
      [["q"], "Ask the PM, beside any screen"],
      [["?"], "This map"],
    ],
  ],
];

export function KeyboardHelp({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      className="help"
      aria-labelledby="help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="help-body">
        <header>
          <h2 id="help-title">Keyboard</h2>
          <button type="button" className="quiet" onClick={onClose}>
            Close
          </button>
        </header>
        {MAP.map(([heading, rows]) => (
          <section key={heading}>
            <h3>{heading}</h3>
            <dl>
              {rows.map(([keys, what]) => (
                <div key={what}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key} className="kbd">
                        {key}
                      </kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
