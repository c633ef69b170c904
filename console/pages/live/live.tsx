/** The page "Live". */
import { Page } from "../../parts/panel.tsx";

export const Live = () => (
  <Page title="Live">
    <p class="quiet">Live</p>
  </Page>
);
