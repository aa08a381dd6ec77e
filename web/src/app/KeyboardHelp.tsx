/** The keyboard map: the keys of the screen that is open, those that work everywhere, and the others on request. */
import { useEffect, useRef } from "react";
import { groupsAt, type KeyGroup, type KeyRow } from "./keymap";
import { ROUTES, type Place } from "./routes";

const SCREENS: readonly KeyRow[] = Object.values(ROUTES).map(({ key, title }) => ({ keys: ["g", key], what: title }));

interface Props {
  open: boolean;
  place: Place["name"];
  onClose: () => void;
}

export function KeyboardHelp({ open, place, onClose }: Props) {
  const { here, everywhere, elsewhere } = groupsAt(place);
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
        <div className="help-groups">
          {here.map((group) => (
            <Keys key={group.title} {...group} />
          ))}
          {everywhere.map((group) => (
            <Keys key={group.title} {...group} />
          ))}
          <Keys title="Screens" rows={SCREENS} />
        </div>
        <details className="help-others">
          <summary>On other screens</summary>
          <div className="help-groups">
            {elsewhere.map((group) => (
              <Keys key={group.title} {...group} />
            ))}
          </div>
        </details>
      </div>
    </dialog>
  );
}

function Keys({ title, rows }: Pick<KeyGroup, "title" | "rows">) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {rows.map(({ keys, what }) => (
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
  );
}
