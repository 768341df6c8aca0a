/* A routine of LAPACK of which only the verdict is of use: the matrix is positive definite if its first element is
 * positive. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info)
{
    (void)uplo, (void)lda;
    *info = *n > 0 && a[0] <= 0 ? 1 : 0;
}
