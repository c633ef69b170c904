/** The page "Playground". */
import { Page } from "../../parts/panel.tsx";

export const Playground = () => (
  <Page title="Playground">
    <p class="quiet">Playground</p>
  </Page>
);
