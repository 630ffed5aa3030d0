/* Stands for <xlocale.h>: what the C++ library takes of it and <locale.h> of Linux does not have. */
#pragma once
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#define MB_CUR_MAX_L(locale) ___mb_cur_max_l(locale)
extern "C" {
int ___mb_cur_max_l(locale_t locale);
int asprintf_l(char **text, locale_t locale, const char *format, ...);
int snprintf_l(char *text, size_t bytes, locale_t locale, const char *format, ...);
int sscanf_l(const char *text, locale_t locale, const char *format, ...);
struct lconv *localeconv_l(locale_t locale);
wint_t btowc_l(int byte, locale_t locale);
int wctob_l(wint_t letter, locale_t locale);
size_t mbrlen_l(const char *text, size_t bytes, mbstate_t *state, locale_t locale);
size_t mbrtowc_l(wchar_t *letter, const char *text, size_t bytes, mbstate_t *state, locale_t locale);
size_t mbsnrtowcs_l(wchar_t *letters, const char **text, size_t bytes, size_t count, mbstate_t *state, locale_t locale);
size_t mbsrtowcs_l(wchar_t *letters, const char **text, size_t count, mbstate_t *state, locale_t locale);
int mbtowc_l(wchar_t *letter, const char *text, size_t bytes, locale_t locale);
size_t wcrtomb_l(char *text, wchar_t letter, mbstate_t *state, locale_t locale);
size_t wcsnrtombs_l(char *text, const wchar_t **letters, size_t count, size_t bytes, mbstate_t *state, locale_t locale);
}
