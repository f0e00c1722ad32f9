"""The studies: one package per paper or question, with its figures, tables and claims."""

if __name__ != "fastcube.studies":
    raise ImportError(f"studies was imported as {__name__!r}; import it as 'fastcube.studies'")
