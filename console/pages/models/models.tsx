/** The page "Models". */
import { Page } from "../../parts/panel.tsx";

export const Models = () => (
  <Page title="Models">
    <p class="quiet">Models</p>
  </Page>
);
