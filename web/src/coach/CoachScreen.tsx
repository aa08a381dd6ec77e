/** Planning: an order that is recommended, with reasons; what was asked before; and what each session should do next. */
import { useRef, useState } from "react";
import { useParameter } from "../app/routes";
import { Drawer } from "../consults/Drawer";
import { Holds } from "../sprints/Holds";
import { AutoPart } from "./AutoPart";
import { ConsultList } from "./ConsultList";
import { OrderForm } from "./OrderForm";
import { SelectionPart } from "./SelectionPart";

export function CoachScreen() {
  const [consult, setConsult] = useParameter("consult");
  const [asking, setAsking] = useState(false);
  const ask = useRef<HTMLButtonElement>(null);

  function leaveForm(): void {
    setAsking(false);
    ask.current?.focus();
  }

  function closeDrawer(): void {
    const link = document.querySelector<HTMLElement>(`[data-consult-link="${CSS.escape(consult)}"]`);
    setConsult("");
    (link ?? ask.current)?.focus();
  }

  return (
    <div className="coach" data-drawer={consult !== "" || undefined}>
      <div className="coach-main">
        <header className="screen-head">
          <h1 tabIndex={-1}>Coach</h1>
          <p>What should be next, and why. Advice changes nothing until you apply it.</p>
        </header>
        <Holds />
        <p className="start-bar">
          <button
            ref={ask}
            type="button"
            className="button"
            aria-expanded={asking}
            aria-controls="recommend-order"
            onClick={() => setAsking(!asking)}
          >
            Recommend order…
          </button>
        </p>
        <div id="recommend-order">
          {asking && (
            <OrderForm
              onLeave={leaveForm}
              onStarted={(id) => {
                setAsking(false);
                setConsult(id);
              }}
            />
          )}
        </div>
        <ConsultList current={consult} onOpen={setConsult} />
        <SelectionPart />
        <AutoPart />
      </div>
      {consult !== "" && <Drawer id={consult} onClose={closeDrawer} />}
    </div>
  );
}
