"""What is measured: one module a paper, with its figures, tables and claims as studies."""

if __name__ != "fastcube.studies":
    raise ImportError(f"studies was imported as {__name__!r}; import it as 'fastcube.studies'")
