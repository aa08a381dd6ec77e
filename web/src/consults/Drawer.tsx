/** A consult beside the screen it was asked on; on a narrow window over it. Escape closes it. */
import { useEffect, useRef, type KeyboardEvent } from "react";
import { linkToOne } from "../app/routes";
import { Icon } from "../ui/Icon";
import { isTyping } from "../ui/keys";
import { ConsultView } from "./ConsultView";

export function Drawer({ id, onClose }: { id: string; onClose: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [id]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented || isTyping(event.target)) return;
    event.preventDefault();
    onClose();
  }

  return (
    <section className="side drawer" aria-labelledby="drawer-title" onKeyDown={onKeyDown}>
      <header className="side-head">
        <h2 id="drawer-title" ref={heading} tabIndex={-1}>
          Consult
        </h2>
        <a className="quiet" {...linkToOne("consult", id)}>
          Open by itself
        </a>
        <button type="button" className="tool" aria-label="Close the drawer" title="Close (Esc)" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="side-body">
        <ConsultView key={id} id={id} everywhere level={3} />
      </div>
    </section>
  );
}
