import { useState } from 'preact/hooks';
import { texts } from '../../texts.js';

/** Takes a file: chosen, or dropped anywhere on the box. */
export function FileChooser({ onChosen }: { onChosen: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file) onChosen(file);
  };
  return (
    <label
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      {texts.imports.drop}
      <input
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
        }}
      />
    </label>
  );
}
