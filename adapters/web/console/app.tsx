import { useEffect, useState } from "preact/hooks";
import { ErrorNote } from "../parts/elements.js";
import { Loading } from "../parts/table.js";
import { Toasts } from "../parts/toast.js";
import { findSession, session } from "./session.js";
import { Shell } from "./shell/shell.js";
import { SignIn } from "./shell/sign-in.js";

/** The console, or what is shown in its place to those who have not signed in. The address stays as it is. */
export function App() {
  const [error, setError] = useState<Error>();
  useEffect(() => {
    findSession().catch(setError);
  }, []);
  const { value } = session;
  return (
    <>
      {value === undefined ? (
        <main class="alone">{error === undefined ? <Loading /> : <ErrorNote error={error} />}</main>
      ) : value === null ? (
        <SignIn />
      ) : (
        <Shell operator={value} />
      )}
      <Toasts />
    </>
  );
}
