/** The page "Credits". */
import { Page } from "../../parts/panel.tsx";

export const Credits = () => (
  <Page title="Credits">
    <p class="quiet">Credits</p>
  </Page>
);
