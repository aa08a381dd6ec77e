import { Icon } from "../ui/Icon";
import { useTheme } from "./theme";

/** One button: to the other theme, and back to following the system. */
export function ThemeSwitch() {
  const { other, switchTheme } = useTheme();
  const label = `Switch to the ${other} theme`;
  return (
    <button type="button" className="tool" aria-label={label} title={label} onClick={switchTheme}>
      <Icon name={other === "dark" ? "moon" : "sun"} />
    </button>
  );
}
