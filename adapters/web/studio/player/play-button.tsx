import { Icon } from "../shell/icons.js";

interface PlayButtonProps {
  readonly what: string;
  readonly isPlaying: boolean;
  readonly onClick: () => void;
}

export function PlayButton({ what, isPlaying, onClick }: PlayButtonProps) {
  return (
    <button type="button" class="play" aria-label={`${isPlaying ? "Pause" : "Play"} ${what}`} onClick={onClick}>
      <Icon name={isPlaying ? "pause" : "play"} />
    </button>
  );
}
