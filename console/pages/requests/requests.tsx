/** The page "Requests". */
import { Page } from "../../parts/panel.tsx";

export const Requests = () => (
  <Page title="Requests">
    <p class="quiet">Requests</p>
  </Page>
);
