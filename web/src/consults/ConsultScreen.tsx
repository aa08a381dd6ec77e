/** One consult by its address. */
import { linkTo } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { ConsultView } from "./ConsultView";

export function ConsultScreen({ id }: { id: string }) {
  useEscapeBack("coach");
  return (
    <>
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("coach")}>Coach</a>
        </p>
        <h1 tabIndex={-1}>Consult</h1>
        <p>What a persona was asked, and what it answered. Nothing changes until you apply a line.</p>
      </header>
      <ConsultView id={id} everywhere />
    </>
  );
}
