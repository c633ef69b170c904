/** The page "Providers": how each does and what it lacks, and one with all its endpoints. */
import { segments } from "../../../app/router.ts";
import { ProviderList } from "./list.tsx";
import { ProviderPage } from "./provider-page.tsx";

export function Providers() {
  const [, , id = ""] = segments.value;
  return id === "" ? <ProviderList /> : <ProviderPage key={id} id={id} />;
}
