// The page of training runs: its charts are drawn already.
import { startKeys } from "./keys.js";
import { startTheme } from "./theme.js";

startTheme();
startKeys([]);
