import { Button } from "../../parts/elements.js";
import { Dialog } from "../../parts/dialog.js";
import { isCharged, type Operation } from "../description/operations.js";

/** What costs credits or removes something is asked about first. */
export function needsConfirmation(operation: Operation): boolean {
  return isCharged(operation) || operation.method === "DELETE";
}

interface ConfirmationProps {
  readonly operation: Operation;
  /** Under the key of the request before. */
  readonly isRepeated: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirmation({ operation, isRepeated, onConfirm, onClose }: ConfirmationProps) {
  return (
    <Dialog title={operation.summary ?? operation.path} onClose={onClose}>
      <p>{effectOf(operation, isRepeated)}</p>
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button look={isCharged(operation) ? "primary" : "danger"} onClick={onConfirm} autoFocus>
          {isCharged(operation) ? "Send it" : "Send DELETE"}
        </Button>
      </footer>
    </Dialog>
  );
}

function effectOf(operation: Operation, isRepeated: boolean): string {
  if (!isCharged(operation)) return "This is carried out for your account, and takes something away.";
  return isRepeated
    ? "It has the key of the request before: with the same body, its stored response comes again and costs nothing."
    : "This is carried out for your account, and costs credits: those that the response names.";
}
