/** The page "Setup". */
import { Page } from "../../parts/panel.tsx";

export const Setup = () => (
  <Page title="Setup">
    <p class="quiet">Setup</p>
  </Page>
);
