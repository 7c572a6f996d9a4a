// The page that says what a service answers.
import { startKeys } from "./keys.js";
import { startTheme } from "./theme.js";

startTheme();
startKeys([]);
