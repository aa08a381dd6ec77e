/** One walk by its address: where it stands, or what came of it. */
import { useEscapeBack } from "../app/useEscapeBack";
import { WalkView } from "./WalkView";

export function WalkScreen({ id }: { id: string }) {
  useEscapeBack("walks");
  return <WalkView id={id} />;
}
