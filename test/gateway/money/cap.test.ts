import { capCases } from "./cap.cases.ts";

capCases();
