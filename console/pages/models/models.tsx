/** The page "Models": the catalog, one model, or some side by side, as the address says. */
import { query, segments } from "../../app/router.ts";
import { comparedIds } from "./catalog.ts";
import { Catalog } from "./catalog-page.tsx";
import { Comparison } from "./comparison.tsx";
import { ModelPage } from "./model-page.tsx";

/** Org and page stand before what the page has of its own. */
const OWN = 2;

export function Models() {
  // An id is one segment or two: `weir%2Fsim-small`, `weir/sim-small`.
  const id = segments.value.slice(OWN).join("/");
  if (id !== "") return <ModelPage key={id} id={id} />;
  const ids = comparedIds(query.value);
  return ids.length > 0 ? <Comparison ids={ids} /> : <Catalog />;
}
