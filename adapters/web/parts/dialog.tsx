import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icons.js";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** It may not be closed now: something is under way. */
  readonly isBusy?: boolean;
  readonly onClose: () => void;
}

/** In front of the page until it is closed: the focus stays within, and returns to where it was. */
export function Dialog({ title, children, isBusy = false, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const close = (): void => {
    if (!isBusy) onClose();
  };
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) close();
      }}
    >
      <div class="dialog-inner">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
