import { capCases } from "./money.cap.cases.ts";

capCases();
